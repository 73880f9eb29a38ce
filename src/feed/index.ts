export { type FeedClientOptions, openFeedClient } from './client.ts'
export type { FeedTarget } from './connect.ts'
export type { Feed, Told, Watch } from './feed.ts'
export { type FollowedFeed, type FollowOptions, followJournal } from './follow-journal.ts'
export type {
  FeedChunk,
  FeedFailure,
  FeedGroup,
  FeedJob,
  FeedMessage,
  FeedNow,
  FeedProblem,
  FeedRun,
  FeedState,
  FeedTick,
  FeedWorkers,
  LiveRollout,
} from './messages.ts'
export { type FeedOptions, type FeedPrices, type LiveFeed, openFeed, type WatchedJob } from './open-feed.ts'
export { readFeed } from './read-feed.ts'
export { type FeedSocket, feedSocketPath, openFeedSocket } from './socket.ts'
export { type FeedStreams, makeFeedStreams } from './streams.ts'

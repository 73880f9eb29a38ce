import { systemClock } from '../../src/clock.ts'
import { jobNotHere, runNotKept } from '../../src/dashboard/errors.ts'
import type { DashboardSource } from '../../src/dashboard/source.ts'
import { type FeedBook, makeFeedBook } from '../../src/feed/book.ts'
import { makeFeed } from '../../src/feed/feed.ts'
import { JOB, NOW } from '../feed/scene.ts'

/** A source whose feed a test writes itself. */
export function makeSource(): {
  readonly source: DashboardSource
  readonly book: FeedBook
  readonly isWatched: () => boolean
} {
  const book = makeFeedBook(JOB)
  const feed = makeFeed({ clock: systemClock, book, now: () => NOW })
  const source: DashboardSource = {
    async feed(jobId) {
      if (jobId !== undefined && jobId !== 'job-1') throw jobNotHere(jobId, 'Nobody has it.')
      return feed
    },
    findRun: async id => Promise.reject(runNotKept(id, 'Nobody has it.')),
    jobs: async () => ({ shown: 'job-1', jobs: [] }),
    tokenizer: async () => undefined,
  }
  return { source, book, isWatched: feed.isWatched }
}

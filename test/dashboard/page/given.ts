import type { FeedChunk, FeedGroup, FeedRun, LiveRollout } from '../../../src/feed/messages.ts'

/** A rollout under way of which only `given` matters. */
export function live(runId: string, given: Partial<LiveRollout> = {}): LiveRollout {
  const about = { groupId: 'g', slug: 'task', step: 0, member: 0, attempt: 1, phase: 'agent', startedAt: 0 } as const
  return { runId, ...about, since: given.startedAt ?? 0, ...given }
}

/** A run that has ended of which only `given` matters. */
export function run(runId: string, given: Partial<FeedRun> = {}): FeedRun {
  return {
    runId,
    groupId: 'g',
    slug: 'task',
    step: 0,
    member: 0,
    attempt: 1,
    outcome: 'graded',
    reward: 1,
    stopReason: 'done',
    lease: 'hit',
    timings: { agent: (given.endedAt ?? 0) - (given.startedAt ?? 0) },
    startedAt: 0,
    endedAt: 0,
    ...given,
  }
}

export function group(groupId: string, given: Partial<FeedGroup> = {}): FeedGroup {
  return { groupId, step: 0, index: 0, slug: 'task', end: 'complete', rewards: [1], endedAt: 0, ...given }
}

export function chunk(groups: readonly string[], given: Partial<FeedChunk> = {}): FeedChunk {
  return { step: 0, call: 0, groups, dropped: [], datums: 1, loss: 1, tookMs: 1, endedAt: 1, ...given }
}

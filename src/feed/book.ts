import type { EvaluationRecord, StepRecord } from '../training/records.ts'
import { type Failures, makeFailures } from './failures.ts'
import type {
  FeedChunk,
  FeedGroup,
  FeedJob,
  FeedNow,
  FeedProblem,
  FeedRun,
  FeedState,
  FeedTick,
  FeedWorkers,
  LiveRollout,
} from './messages.ts'
import { makeNewest, type Newest } from './newest.ts'

/** How much is kept for newcomers. */
export const MOST_KEPT = { runs: 5_000, groups: 2_000, chunks: 1_000, steps: 10_000, problems: 200 } as const
/** How much of what is new one tick carries. */
const MOST_AT_ONCE = 500

/** What is known of a job, bounded: whoever learns something writes it here, and what watchers are sent is read from it. */
export interface FeedBook {
  job: FeedJob
  readonly runs: Newest<FeedRun>
  readonly groups: Newest<FeedGroup>
  readonly chunks: Newest<FeedChunk>
  readonly steps: Newest<StepRecord>
  readonly evaluations: Newest<EvaluationRecord>
  readonly failures: Failures
  readonly problems: Newest<FeedProblem>
  setSource(source: FeedJob['source']): void
  /** The whole of what goes on. */
  setLive(live: readonly LiveRollout[]): void
  setWorkers(workers: FeedWorkers): void
  state(at: number, now: FeedNow): FeedState
  /** What is new since the last take. */
  take(): Omit<FeedTick, 'at' | 'now'>
  /** Forgets all but what it is about. */
  clear(): void
}

export function makeFeedBook(job: FeedJob): FeedBook {
  let source: FeedJob['source'] | undefined
  let live: readonly LiveRollout[] = []
  let isLiveNew = false
  let workers: FeedWorkers | undefined
  let areWorkersNew = false
  const lists = {
    runs: makeNewest<FeedRun>(MOST_KEPT.runs, MOST_AT_ONCE),
    groups: makeNewest<FeedGroup>(MOST_KEPT.groups, MOST_AT_ONCE),
    chunks: makeNewest<FeedChunk>(MOST_KEPT.chunks, MOST_AT_ONCE),
    steps: makeNewest<StepRecord>(MOST_KEPT.steps, MOST_AT_ONCE),
    evaluations: makeNewest<EvaluationRecord>(MOST_KEPT.steps, MOST_AT_ONCE),
    problems: makeNewest<FeedProblem>(MOST_KEPT.problems, MOST_AT_ONCE),
    failures: makeFailures(),
  }

  const book: FeedBook = {
    job,
    ...lists,
    setSource(next) {
      if (book.job.source === next) return
      book.job = { ...book.job, source: next }
      source = next
    },
    setLive(next) {
      isLiveNew = next.length > 0 || live.length > 0
      live = next
    },
    setWorkers(next) {
      areWorkersNew = true
      workers = next
    },
    state(at, now) {
      const { runs, groups, chunks, steps, evaluations, failures, problems } = lists
      return {
        job: book.job,
        at,
        now,
        live,
        runs: runs.all(),
        groups: groups.all(),
        chunks: chunks.all(),
        training: { steps: steps.all(), evaluations: evaluations.all() },
        failures: failures.all(),
        problems: problems.all(),
        ...(workers === undefined ? {} : { workers }),
      }
    },
    take() {
      const entries = Object.entries(lists).map(([name, list]) => [name, list.take()] as const)
      const taken: Omit<FeedTick, 'at' | 'now'> = {
        ...(source === undefined ? {} : { source }),
        ...(isLiveNew ? { live } : {}),
        ...(areWorkersNew && workers !== undefined ? { workers } : {}),
        ...Object.fromEntries(entries.filter(([, items]) => items.length > 0)),
      }
      source = undefined
      isLiveNew = false
      areWorkersNew = false
      return taken
    },
    clear() {
      for (const list of Object.values(lists)) list.clear()
      live = []
      workers = undefined
    },
  }
  return book
}

import type { FeedFailure, FeedRun } from './messages.ts'

/** Rollouts without a grade, counted by what went wrong. */
export interface Failures {
  /** `tag`: of its error, where it has one. A run with a reward is none. */
  add(run: FeedRun, tag: string | undefined): void
  all(): readonly FeedFailure[]
  /** Those kinds whose count has changed since the last take, whole. */
  take(): readonly FeedFailure[]
  /** Takes the place of what was counted of its kind. */
  put(failure: FeedFailure): void
  clear(): void
}

/** Tags are few; this is for the day when they are not. */
const MOST_KINDS = 64
const OTHER = 'other'

export function makeFailures(): Failures {
  const kinds = new Map<string, FeedFailure>()
  const changed = new Set<string>()

  function put(failure: FeedFailure): void {
    kinds.set(failure.kind, failure)
    changed.add(failure.kind)
  }

  return {
    add(run, tag) {
      if (run.reward !== null) return
      const named = tag ?? run.stopReason
      const kind = kinds.has(named) || kinds.size < MOST_KINDS ? named : OTHER
      const known = kinds.get(kind)
      if (known !== undefined) return put({ ...known, count: known.count + 1 })
      const { runId, slug, outcome, failedPhase, error, endedAt } = run
      const message = error ?? `it stopped: ${run.stopReason}`
      put({ kind, outcome, count: 1, first: { runId, slug, phase: failedPhase ?? null, message, at: endedAt } })
    },
    all: () => [...kinds.values()],
    take() {
      const taken = [...changed].flatMap(kind => kinds.get(kind) ?? [])
      changed.clear()
      return taken
    },
    put,
    clear() {
      kinds.clear()
      changed.clear()
    },
  }
}

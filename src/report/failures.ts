import type { Outcome, Phase, RunHeader, StopReason } from '../rollout/run.ts'

/** Runs that failed in one way: who is answerable, why it stopped, and with which error. */
export interface FailureKind {
  readonly outcome: Outcome
  readonly stopReason: StopReason
  readonly errorTag: string | null
  readonly phase: Phase | null
  readonly count: number
  /** How many of them have a reward all the same. */
  readonly graded: number
  /** The first of them. */
  readonly example: { readonly runId: string; readonly slug: string; readonly message: string | null }
}

/** The most frequent kind first; kinds of equal size in the order they were met. A graded run of a bad answer is no failure. */
export function countFailures(runs: readonly RunHeader[]): FailureKind[] {
  const kinds = new Map<string, FailureKind>()
  for (const run of runs) {
    if (run.outcome === 'graded') continue
    const errorTag = run.error?.tag ?? null
    const phase = run.failedPhase ?? null
    const key = [run.outcome, run.stopReason, errorTag, phase].join(' ')
    const known = kinds.get(key)
    const graded = run.reward === null ? 0 : 1
    kinds.set(
      key,
      known === undefined
        ? {
            outcome: run.outcome,
            stopReason: run.stopReason,
            errorTag,
            phase,
            count: 1,
            graded,
            example: { runId: run.runId, slug: run.task.slug, message: run.error?.message ?? null },
          }
        : { ...known, count: known.count + 1, graded: known.graded + graded },
    )
  }
  return [...kinds.values()].sort((one, other) => other.count - one.count)
}

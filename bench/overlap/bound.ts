import type { StepDurations } from './durations.ts'

/** How rollouts and training share the time of a step. */
export interface Mode {
  readonly overlap: boolean
  readonly order: 'planned' | 'completion'
  readonly maxPolicyLag: number
  /** Groups in one training call. */
  readonly groupsPerCall: number
}

/**
 * Milliseconds that the steps take when nothing but the rollouts and the training calls takes any time: what no loop of this mode can be
 * faster than.
 */
export function boundMs(steps: readonly StepDurations[], mode: Mode): number {
  const closed: number[] = []
  let rolloutsOver = 0
  for (const [step, { groups, trainMs }] of steps.entries()) {
    const before = closed[step - 1] ?? 0
    const began = mode.maxPolicyLag === 0 ? before : Math.max(rolloutsOver, closed[step - 1 - mode.maxPolicyLag] ?? 0)
    const ends = groups.map(members => began + Math.max(...members.map(({ ms }) => ms)))
    rolloutsOver = Math.max(...ends)
    // Training is one call after the other, each as soon as its groups are whole, and after the step before.
    let trained = before
    for (const call of callsOf(ends, mode)) {
      const ready = mode.overlap ? Math.max(...call) : rolloutsOver
      trained = Math.max(trained, ready) + (trainMs * call.length) / groups.length
    }
    closed.push(trained)
  }
  return closed.at(-1) ?? 0
}

/** The ends of the groups of each call. In planned order a call also waits for those before it, which `Math.max` over time does by itself. */
function callsOf(ends: readonly number[], { groupsPerCall, order }: Mode): number[][] {
  const sorted = order === 'completion' ? [...ends].sort((a, b) => a - b) : ends
  const calls: number[][] = []
  for (let from = 0; from < sorted.length; from += groupsPerCall) calls.push(sorted.slice(from, from + groupsPerCall))
  return calls
}

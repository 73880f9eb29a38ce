import type { JobId } from '../ids.ts'
import type { GroupPlan } from '../taskset/plan.ts'
import { planGroups } from '../taskset/plan-groups.ts'
import type { Task } from '../taskset/task.ts'

/** What one run of a taskset says of its place in the job; see `RunOptions`. */
export interface Placement {
  readonly tasks: readonly Task[]
  readonly group: number
  readonly seed: number
  readonly step: number | undefined
  readonly round: number | undefined
}

export interface Planned {
  readonly step: number
  readonly round: number
  readonly plans: readonly GroupPlan[]
  /** Something of this step and round was planned before, in this process: groups may be among it that are over. */
  readonly again: boolean
}

/** Numbers the steps of a job, and gives their groups their places. Holds a line for each round, and nothing for a group. */
export function makePlanner(jobId: JobId): (placement: Placement) => Planned {
  let steps = 0
  /** How many places each step has given to groups. */
  const places = new Map<number, number>()
  const rounds = new Set<string>()
  return ({ tasks, group, seed, step = steps++, round = 0 }) => {
    // Groups of a later round stand behind those that the step has already.
    const taken = places.get(step) ?? 0
    const firstIndex = round === 0 ? 0 : taken
    const plans = planGroups({ jobId, tasks, group, seed, step, round, firstIndex })
    places.set(step, Math.max(taken, firstIndex + plans.length))
    const key = `${step}/${round}`
    const again = rounds.has(key)
    rounds.add(key)
    return { step, round, plans, again }
  }
}

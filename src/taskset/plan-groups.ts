import { createHash } from 'node:crypto'
import { type GroupId, type JobId, type RunId, toGroupId, toRunId } from '../ids.ts'
import { deriveSeed, makeRandom, mixSeed, shuffle } from '../random.ts'
import { badGroupSize } from './errors.ts'
import type { GroupPlan, MemberPlan } from './plan.ts'
import type { Task } from './task.ts'

export interface PlanRequest {
  readonly jobId: JobId
  readonly tasks: readonly Task[]
  /** Attempts at each task. */
  readonly group: number
  readonly seed: number
  readonly step: number
  /** Another go at tasks in the same step, with ids and seeds of its own. Default 0, the step's first. */
  readonly round?: number
  /** Places are counted from here. Default 0. */
  readonly firstIndex?: number
}

/**
 * One group a task, in an order drawn from seed and step. Nothing else about a group depends on its place or on the other
 * tasks: ids come from (job, step, slug, member) and members' seeds from (seed, step, slug, member), and from the round where there
 * is one, so that the same command finds what an earlier process left, also when tasks were added since. Throws `bad-group-size`.
 */
export function planGroups({ jobId, tasks, group, seed, step, round = 0, firstIndex = 0 }: PlanRequest): GroupPlan[] {
  if (!Number.isInteger(group) || group < 1) throw badGroupSize(group)
  const more = round === 0 ? [] : [round]
  return shuffle(tasks, makeRandom(deriveSeed(seed, step, ...more))).map((task, place) => {
    const index = firstIndex + place
    const groupId = groupIdOf(jobId, step, task.slug, round)
    const groupSeed = deriveSeed(seed, step, task.slug, ...more)
    const members = Array.from(
      { length: group },
      (_, member): MemberPlan => ({ runId: runIdOf(groupId, member), member, seed: mixSeed(groupSeed, member) }),
    )
    return { jobId, groupId, step, index, task, members }
  })
}

/**
 * Where the group of a task is found again, by the same job in the same step and round. 64 bits of a hash: two of a job's million groups
 * meet once in 37 million jobs.
 */
export function groupIdOf(jobId: JobId, step: number, slug: string, round = 0): GroupId {
  const digest = createHash('sha256')
    .update(JSON.stringify(round === 0 ? [jobId, step, slug] : [jobId, step, slug, round]))
    .digest('hex')
  return toGroupId(`group-${digest.slice(0, 16)}`)
}

/** A member's run: `run-<the group's digits>-<member>`. */
export function runIdOf(groupId: GroupId, member: number): RunId {
  return toRunId(`${groupId.replace('group-', 'run-')}-${member}`)
}

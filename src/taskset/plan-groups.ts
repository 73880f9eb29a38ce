import { createHash } from 'node:crypto'
import { type GroupId, type JobId, type RunId, toGroupId, toRunId } from '../ids.ts'
import { deriveSeed, makeRandom, shuffle } from '../random.ts'
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
}

/**
 * One group a task, in an order drawn from seed and step. Nothing else about a group depends on its place or on the other
 * tasks: ids come from (job, step, slug, member) and members' seeds from (seed, step, slug, member), so that the same command
 * finds what an earlier process left, also when tasks were added since. Throws `bad-group-size`.
 */
export function planGroups({ jobId, tasks, group, seed, step }: PlanRequest): GroupPlan[] {
  if (!Number.isInteger(group) || group < 1) throw badGroupSize(group)
  return shuffle(tasks, makeRandom(deriveSeed(seed, step))).map((task, index) => ({
    jobId,
    groupId: groupIdOf(jobId, step, task.slug),
    step,
    index,
    task,
    members: Array.from(
      { length: group },
      (_, member): MemberPlan => ({
        runId: runIdOf(jobId, step, task.slug, member),
        member,
        seed: deriveSeed(seed, step, task.slug, member),
      }),
    ),
  }))
}

/** Where the group of a task is found again, by the same job in the same step. */
export function groupIdOf(jobId: JobId, step: number, slug: string): GroupId {
  return toGroupId(`group-${digest(jobId, step, slug)}`)
}

export function runIdOf(jobId: JobId, step: number, slug: string, member: number): RunId {
  return toRunId(`run-${digest(jobId, step, slug, member)}`)
}

/** 64 bits: two of a job's million runs meet once in 37 million jobs. */
function digest(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

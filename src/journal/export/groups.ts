import type { GroupId, JobId } from '../../ids.ts'
import { unpackTrajectory } from '../../rollout/pack.ts'
import type { RunHeader } from '../../rollout/run.ts'
import type { Trajectory } from '../../rollout/trajectory.ts'
import { isEvaluationStep } from '../../training/loop/schedule.ts'
import { runVanished } from '../errors.ts'
import type { Journal } from '../journal.ts'

/** The durable runs of one group, members in order, without their trajectories. */
export interface ExportGroup {
  readonly groupId: GroupId
  readonly headers: readonly RunHeader[]
}

export interface GroupsOptions {
  /** `keep`: with a null reward, which is not a reward of 0. */
  readonly ungraded: 'keep' | 'leave-out'
  /** Groups that only measured a policy, on tasks that it is not to be trained on. */
  readonly evaluations: 'keep' | 'leave-out'
}

/** A job's groups in plan order, each whole, one at a time. A group of which nothing is left is none. */
export async function* readGroups(
  journal: Journal,
  jobId: JobId,
  { ungraded, evaluations }: GroupsOptions,
): AsyncGenerator<ExportGroup> {
  let place: string | undefined
  let open = new Map<GroupId, RunHeader[]>()
  for await (const header of journal.runs(jobId)) {
    if (evaluations === 'leave-out' && isEvaluationStep(header.step)) continue
    const here = `${header.step}/${header.index}`
    // Two processes may have given one place to two groups, whose members then stand mixed.
    if (here !== place) {
      yield* toGroups(open)
      open = new Map()
      place = here
    }
    if (ungraded === 'leave-out' && header.reward === null) continue
    const members = open.get(header.groupId)
    if (members === undefined) open.set(header.groupId, [header])
    else members.push(header)
  }
  yield* toGroups(open)
}

/** Rejects with `journal-damaged` where a run is listed and not there. */
export async function readTrajectory(journal: Journal, { runId }: RunHeader): Promise<Trajectory> {
  const found = await journal.run(runId)
  if (found === undefined) throw runVanished(journal.location, runId)
  return unpackTrajectory(found.trajectory)
}

function toGroups(open: ReadonlyMap<GroupId, readonly RunHeader[]>): ExportGroup[] {
  return [...open].map(([groupId, headers]) => ({ groupId, headers }))
}

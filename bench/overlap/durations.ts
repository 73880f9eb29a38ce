import { toJobId } from '../../src/ids.ts'
import { deriveSeed, makeRandom } from '../../src/random.ts'
import { planGroups } from '../../src/taskset/plan-groups.ts'
import type { Taskset } from '../../src/taskset/taskset.ts'
import type { PublishedStep } from './published.ts'

/** Of one rollout, as the published run reports it. */
const MEDIAN_MS = 50_000

/** How long each member of a step takes, group after group in planned order, and the seeds by which agents are told. */
export interface StepDurations extends PublishedStep {
  readonly groups: readonly (readonly { readonly seed: number; readonly ms: number }[])[]
}

/**
 * Log-normal durations whose median is the published one and whose longest is the step's published rollout time, drawn anew for each
 * step. Members' seeds depend on job seed, step and task alone, so that every run of the same seed has the same durations.
 */
export function drawDurations(
  published: readonly PublishedStep[],
  taskset: Taskset,
  { group, seed, scale }: { readonly group: number; readonly seed: number; readonly scale: number },
): readonly StepDurations[] {
  return published.map(({ rolloutMs, trainMs }, step) => {
    const plans = planGroups({ jobId: toJobId('any'), tasks: taskset.tasks, group, seed, step })
    const random = makeRandom(deriveSeed(seed, 'durations', step))
    const normals = plans.map(({ members }) => members.map(() => drawNormal(random)))
    const largest = Math.max(...normals.flat())
    const toMs = (normal: number) => (MEDIAN_MS * (rolloutMs / MEDIAN_MS) ** (normal / largest)) / scale
    const groups = plans.map(({ members }, at) =>
      members.map((member, place) => ({ seed: member.seed, ms: toMs(normals[at]?.[place] ?? 0) })),
    )
    return { rolloutMs: rolloutMs / scale, trainMs: trainMs / scale, groups }
  })
}

/** Box and Muller's. */
function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

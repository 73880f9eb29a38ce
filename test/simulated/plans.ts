import { toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { toRunHeader } from '../../src/rollout/header.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import type { RolloutEnd } from '../../src/rollout/rollout.ts'
import type { GroupPlan } from '../../src/taskset/plan.ts'
import type { GradeBook } from './grade-book.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

export const JOB = toJobId('job')

/** A member's seed says whose it is. */
export function makePlans({ groups, size }: Scenario): GroupPlan[] {
  return Array.from({ length: groups }, (_, index) => ({
    jobId: JOB,
    groupId: toGroupId(`g${index}`),
    step: 0,
    index,
    task: { env: 'simulated', id: 'do', args: { index }, slug: `do-${index}` },
    members: Array.from({ length: size }, (_, member) => ({
      runId: toRunId(`g${index}-m${member}`),
      member,
      seed: 100 * index + member,
    })),
  }))
}

/** What an earlier process finished before it was killed. */
export async function leaveDurable(
  world: World,
  scenario: Scenario,
  plans: readonly GroupPlan[],
  journal: Journal,
  grades: GradeBook,
): Promise<void> {
  for (const plan of plans)
    for (const member of plan.members) {
      if (!world.chance(scenario.durable)) continue
      const reward = grades.give({ group: plan.index, seed: member.seed })
      const trajectory = { prompt: 'do', turns: [], answer: { seed: member.seed }, grade: { score: reward } }
      const bytes = packTrajectory(trajectory)
      const end: RolloutEnd = {
        outcome: 'graded',
        reward,
        stopReason: 'done',
        failedPhase: undefined,
        error: undefined,
        retryable: false,
        lease: 'cold',
        timings: {},
        laps: [],
        startedAt: 0,
        endedAt: 0,
        tookMs: 0,
        trajectory,
      }
      const how = { attempt: 1, agent: 'simulated', bytes: bytes.byteLength }
      await journal.putRun(toRunHeader(plan, member, how, end), bytes)
    }
}

import { toGroupId, toJobId, toRunId } from '../../../src/ids.ts'
import type { RunHeader } from '../../../src/rollout/run.ts'
import type { Trajectory } from '../../../src/rollout/trajectory.ts'

const STARTED = Date.UTC(2026, 0, 2, 3, 4, 5)

/** A graded run that took 100 ms in each phase. */
export function headerOf(more: Partial<RunHeader> = {}): RunHeader {
  return {
    runId: toRunId('run-0123456789abcdef-0'),
    jobId: toJobId('job-01234567'),
    groupId: toGroupId('group-0123456789abcdef'),
    step: 0,
    index: 0,
    member: 0,
    attempt: 1,
    task: { env: 'calc', id: 'fix', args: { variant: 3 }, slug: 'fix-3' },
    outcome: 'graded',
    reward: 1,
    stopReason: 'done',
    lease: 'cold',
    timings: { provisioning: 100, connecting: 100, starting: 100, agent: 100, grading: 100, cleanup: 100 },
    startedAt: STARTED,
    endedAt: STARTED + 600,
    seed: 7,
    agent: 'chat',
    bytes: 100,
    ...more,
  }
}

export function trajectoryOf(more: Partial<Trajectory> = {}): Trajectory {
  return { prompt: 'Fix it.', turns: [], answer: 'done', grade: { score: 1 }, ...more }
}

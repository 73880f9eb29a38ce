import { type GroupId, type JobId, toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import type { JobSnapshot } from '../../src/job/snapshot.ts'
import type { ReportSource } from '../../src/report/report.ts'
import type { RunHeader } from '../../src/rollout/run.ts'

export const jobId: JobId = toJobId('job-1')

/** A graded run of task `variant`, with what a test says differs. */
export function makeRun(variant: number, member: number, differing: Partial<RunHeader> = {}): RunHeader {
  const groupId: GroupId = toGroupId(`group-${variant}`)
  return {
    runId: toRunId(`run-${variant}-${member}`),
    jobId,
    groupId,
    step: 0,
    index: variant,
    member,
    attempt: 1,
    task: {
      env: 'calc',
      id: 'fix',
      args: { variant },
      slug: `fix-v${variant}`,
      columns: { bugs: 4 + (variant % 2), variant },
    },
    outcome: 'graded',
    reward: member % 2,
    stopReason: 'done',
    lease: member === 0 ? 'cold' : 'hit',
    timings: { provisioning: 2, starting: 5, agent: 100 * (member + 1), grading: 40 },
    startedAt: 1_700_000_000_000,
    endedAt: 1_700_000_000_000 + 150 + 100 * member,
    seed: 7,
    agent: 'repairer',
    bytes: 1_000,
    ...differing,
  }
}

/** Groups of the runs by task, and a snapshot that fits them. */
export function makeSource(runs: readonly RunHeader[], differing: Partial<JobSnapshot> = {}): ReportSource {
  const byGroup = new Map<string, RunHeader[]>()
  for (const run of runs) byGroup.set(run.groupId, [...(byGroup.get(run.groupId) ?? []), run])
  const groups = [...byGroup.values()].flatMap(members => {
    const [first] = members
    const trajectory = { prompt: '', turns: [], answer: '', grade: null }
    return first === undefined
      ? []
      : [{ end: { type: 'complete' } as const, task: first.task, runs: members.map(run => ({ ...run, trajectory })) }]
  })
  return {
    jobId,
    name: 'calc',
    seed: 7,
    runs,
    groups,
    snapshot: makeSnapshot(runs, groups.length, differing),
    wallMs: 2_500,
  }
}

export function makeSnapshot(
  runs: readonly RunHeader[],
  groups: number,
  differing: Partial<JobSnapshot> = {},
): JobSnapshot {
  const graded = runs.filter(run => run.reward !== null)
  return {
    plannedRuns: runs.length,
    plannedGroups: groups,
    finishedRuns: runs.length,
    finishedGroups: groups,
    graded: graded.length,
    passed: graded.filter(run => (run.reward ?? 0) >= 1).length,
    rewardSum: graded.reduce((sum, run) => sum + (run.reward ?? 0), 0),
    inFlight: 0,
    peakInFlight: 4,
    byOutcome: {
      graded: graded.length,
      'agent-error': 0,
      'environment-error': 0,
      'infrastructure-error': 0,
      cancelled: 0,
    },
    pool: undefined,
    sandboxMs: 0,
    waitingBytes: 0,
    creditsInUse: 0,
    engineCpuMs: 24,
    engineRssBytes: 100 * 1024 * 1024,
    peakRssBytes: 128 * 1024 * 1024,
    loopDelayP99Ms: 3.5,
    startedAt: 1_700_000_000_000,
    ...differing,
  }
}

import type { AgentSpec } from '../../../src/agents/agent.ts'
import { type ErrorData, toErrorData } from '../../../src/errors.ts'
import type { GroupId, JobId } from '../../../src/ids.ts'
import { PLANNED_GROUPS } from '../../../src/job/find-unfinished.ts'
import { Job } from '../../../src/job/job.ts'
import type { Deadlines, RunOptions } from '../../../src/job/options.ts'
import type { JobSnapshot } from '../../../src/job/snapshot.ts'
import type { GroupEnd } from '../../../src/rollout/group.ts'
import type { RunHeader } from '../../../src/rollout/run.ts'
import { LocalRuntime } from '../../../src/runtimes/local.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { type FaultScene, MARK } from './scene.ts'

/** A job that meets faults. */
export interface FaultJob {
  readonly groups: number
  readonly members: number
  readonly seed: number
  /** Default: a local host of the scene's environment, one thread, and the scene's journal. */
  readonly options?: RunOptions & { readonly resume?: boolean }
  readonly agent?: AgentSpec
  /** Done from outside while it runs. */
  readonly during?: (job: Job) => Promise<void>
}

export interface SeenGroup {
  readonly groupId: GroupId
  readonly end: GroupEnd
  /** With what the grader said. */
  readonly runs: readonly (RunHeader & { readonly score: number | null })[]
}

/** What the job said of itself: data, so that a child can print it. */
export interface Outcome {
  /** Absent where not even a job could be begun. */
  readonly jobId: JobId | undefined
  readonly planned: { readonly groups: number; readonly runs: number }
  readonly snapshot: JobSnapshot | undefined
  readonly groups: readonly SeenGroup[]
  /** What the run rejected with. */
  readonly error: ErrorData | undefined
  /** What the closing rejected with. */
  readonly closing: ErrorData | undefined
}

/** Long enough for a machine under load, short enough to be waited for. */
const DEADLINES: Partial<Deadlines> = { connecting: 3_000, cleanup: 1_000 }

/** Runs the job to whatever end it comes to, and closes it. Rejects only when the test itself is at fault. */
export async function perform(scene: FaultScene, faulty: FaultJob): Promise<Outcome> {
  const { groups, members, seed, agent = scene.agent(), options = {}, during } = faulty
  const planned = { groups, runs: groups * members }
  let job: Job
  try {
    job = await Job.start('faulty', {
      runtime: localRuntime(scene),
      threads: 1,
      journal: scene.journal,
      settings: { [PLANNED_GROUPS]: groups },
      seed,
      ...options,
      deadlines: { ...DEADLINES, ...options.deadlines },
    })
  } catch (thrown) {
    return {
      jobId: undefined,
      planned,
      snapshot: undefined,
      groups: [],
      error: toErrorData(thrown),
      closing: undefined,
    }
  }
  const running = makeTaskset(groups).run(agent, { job, group: members })
  const [run, outside] = await Promise.allSettled([running, during?.(job)])
  const outcome = await closeAndTell(job, planned, run.status === 'rejected' ? toErrorData(run.reason) : undefined)
  if (outside.status === 'rejected') throw outside.reason
  return outcome
}

/** Closes a job whose run has ended, with `error` or well. */
export async function closeAndTell(
  job: Job,
  planned: Outcome['planned'],
  error: ErrorData | undefined,
): Promise<Outcome> {
  const groups = job.groups.map(({ groupId, end, runs }) => ({ groupId, end, runs: runs.map(toSeen) }))
  const snapshot = job.snapshot()
  const closing = await job.close().then(() => undefined, toErrorData)
  return { jobId: job.jobId, planned, snapshot, groups, error, closing }
}

/** A host of the scene's environment that is known by the scene's mark. */
export function localRuntime(
  scene: FaultScene,
  options: ConstructorParameters<typeof LocalRuntime>[1] = {},
): LocalRuntime {
  return new LocalRuntime(scene.environment, { variables: { [MARK]: scene.directory }, ...options })
}

export function makeTaskset(count: number): Taskset {
  const rows = Array.from({ length: count }, (_, n) => ({ env: 'faulty', id: 'say', args: { n }, slug: `say-${n}` }))
  return new Taskset('faulty', rows)
}

/** A copy of a run is its header alone. */
function toSeen(run: Job['runs'][number]): SeenGroup['runs'][number] {
  const { grade } = run.trajectory
  const score: unknown = grade?.isError === true ? null : grade?.score
  return { ...run, score: typeof score === 'number' ? score : null }
}

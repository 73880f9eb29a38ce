import type { AgentSpec } from '../../agents/agent.ts'
import { toErrorData } from '../../errors.ts'
import { Job } from '../../job/job.ts'
import { planProvision, preflight } from '../../job/preflight.ts'
import type { Run } from '../../rollout/run.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { Taskset } from '../../taskset/taskset.ts'
import { countByTag, makeErrorCount } from '../error-count.ts'
import type { Cell, Sample } from '../level.ts'
import { isAtRest, toBooks } from './books.ts'
import type { LadderClient } from './ladder-client.ts'
import { countLeaked } from './leaked.ts'
import { toPoolOptions } from './pool-options.ts'
import { untilReady } from './readiness.ts'
import { until } from './until.ts'
import { watchProvisions } from './watched-runtime.ts'

export interface RolloutWork {
  readonly taskset: Taskset
  readonly agent: AgentSpec
  /** Attempts at each task; fewer tasks than a level needs make the groups larger. */
  readonly group: number
  readonly seed: number
  readonly threads?: number
}

/** What is still there then is counted as leaked. */
const REST_MS = 30_000
const LOOK_MS = 20

/** The work `rollout`: whole rollouts by the engine as it is, without a journal. The runtime is closed with the job. */
export async function openEngineClient(cell: Cell, given: Runtime, work: RolloutWork): Promise<LadderClient> {
  const errors = makeErrorCount()
  const runtime = watchProvisions(given, errors.add)
  const { seed, threads, agent } = work
  const taskset = toLevelTasks(work.taskset, cell.width, work.group)
  const options = {
    runtime,
    pool: toPoolOptions(cell),
    maxConcurrent: cell.width,
    seed,
    retries: 0,
    ...(threads === undefined ? {} : { threads }),
  }
  const job = await Job.start('ladder', options)

  async function runTasks(tasks: Taskset, group: number): Promise<readonly Run[]> {
    const runs: Run[] = []
    for await (const { runs: members } of job.stream(tasks, agent, { group })) runs.push(...members)
    return runs
  }

  const stats = () => job.snapshot().pool

  async function untilAtRest(): Promise<void> {
    // The first figures that come from now on may have been asked for before.
    const seen = new Set([stats()])
    const isDone = async () => {
      const now = stats()
      seen.add(now)
      return seen.size > 2 && now !== undefined && isAtRest(now)
    }
    await until(isDone, LOOK_MS, REST_MS)
  }

  return {
    async warmUp() {
      await preflight(taskset, agent, runtime, planProvision(options, cell.width))
      await runTasks(taskset.select(['0']), 1)
      errors.take() // of no level
    },
    async prepare(demand) {
      job.expect(demand)
      await untilReady(cell, async () => stats())
    },
    async run() {
      const runs = await runTasks(taskset, cell.width / taskset.tasks.length)
      const samples = runs.flatMap(toSample)
      const failed = runs.filter(({ outcome }) => outcome !== 'graded')
      const failures = failed.map(run => run.error ?? ungraded(run))
      // Creates that failed have been heard of; what a sandbox did after that is the provider's, too.
      for (const { outcome, failedPhase, error } of failed)
        if (outcome === 'infrastructure-error' && failedPhase !== 'provisioning' && error !== undefined)
          errors.add(error)
      return { samples, failures, giveBack: untilAtRest }
    },
    async books() {
      const now = stats()
      return now === undefined ? undefined : toBooks(now)
    },
    leaked: () =>
      countLeaked(runtime, job.jobId, async () => {
        const now = stats()
        return now === undefined ? { atRest: true, owned: 0 } : { atRest: isAtRest(now), owned: toBooks(now).owned }
      }),
    takeErrors: () => countByTag(errors.take()),
    close: () => job.close(),
  }
}

const ungraded = ({ outcome, stopReason }: Run) => toErrorData(new Error(`${outcome}: ${stopReason}`))

/** As many whole groups as make up exactly `width` rollouts. */
export function toLevelTasks(taskset: Taskset, width: number, group: number): Taskset {
  const wanted = Math.min(taskset.tasks.length, Math.max(1, Math.floor(width / group)))
  let count = wanted
  while (width % count !== 0) count -= 1
  return count === taskset.tasks.length ? taskset : taskset.select([`0-${count - 1}`])
}

const STAGES = ['starting', 'agent', 'grading'] as const
const STAGE_NAMES = { starting: 'start', agent: 'agent', grading: 'grade' } as const

/** What was graded, by when each of its stages was over. */
function toSample({ outcome, startedAt, timings, lease }: Run): Sample[] {
  if (outcome !== 'graded' || lease === null) return []
  const leased = timings.provisioning ?? 0
  const usable = leased + (timings.connecting ?? 0)
  const stages: Record<string, number> = { lease: leased, hello: usable }
  let over = usable
  for (const phase of STAGES) {
    over += timings[phase] ?? 0
    stages[STAGE_NAMES[phase]] = over
  }
  return [{ sandbox: '', askedAtMs: startedAt, stages, usableMs: usable, kind: lease }]
}

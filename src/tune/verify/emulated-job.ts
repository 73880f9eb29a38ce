import { fileURLToPath } from 'node:url'
import { createAgent } from '../../agents/create-agent.ts'
import { type Clock, sleep, systemClock } from '../../clock.ts'
import { type Emulator, startEmulator } from '../../emulator/index.ts'
import { randomIds, toSandboxId } from '../../ids.ts'
import { Job } from '../../job/job.ts'
import type { RunHeader } from '../../rollout/run.ts'
import { DaytonaRuntime } from '../../runtimes/daytona/daytona-runtime.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import { drawArrivals, drawDurations, steadyStepMs } from '../../simulation/draws.ts'
import type { JobShape, PoolPlan } from '../../simulation/job.ts'
import { planGroups } from '../../taskset/plan-groups.ts'
import { Taskset } from '../../taskset/taskset.ts'
import { rolloutsFailed } from '../errors.ts'
import { makeAliveMeter } from './alive-meter.ts'
import { makeWaitingAgent } from './waiting-agent.ts'

/** What a job on the emulator took, in milliseconds and seconds of its own time. */
export interface Measured {
  /** Of each step, from the first request to the last rollout's end. */
  readonly stepsMs: readonly number[]
  readonly idleSeconds: number
  readonly usedSeconds: number
  readonly hitRate: number
  readonly created: number
}

export interface EmulatedJobOptions {
  readonly seed: number
  /** Emulated time passes so many times as fast. */
  readonly speed: number
  readonly signal?: AbortSignal
}

const SNAPSHOT = 'daytonaio/sandbox'
const COMMAND = 'troupe serve environments/arith/env.ts --host 0.0.0.0 --port 8765 --insecure'
const environmentPath = fileURLToPath(new URL('../../../../environments/arith/env.ts', import.meta.url))
/** No create waits for the account: the model knows of no limit. */
const WARM_UP_MS = 60_000
const LIMITS = { authenticated: 10_000_000, 'sandbox-create': 1_000_000, 'sandbox-lifecycle': 1_000_000 }

/**
 * Runs the job with the real engine, pool and runtime against an emulator in this process. Its rollouts wait as long as the simulation's work, and its account is kept by
 * counting what exists at the emulator. Rejects with `rollouts-failed` when any rollout is not graded.
 */
export async function runEmulatedJob(
  job: JobShape,
  plan: PoolPlan,
  { seed, speed, signal }: EmulatedJobOptions,
): Promise<Measured> {
  const emulator = await startEmulator({ speed, seed, limits: LIMITS, environmentPath, isolation: 'none' })
  const runtime = new DaytonaRuntime(SNAPSHOT, {
    apiUrl: emulator.url,
    apiKey: emulator.apiKey,
    command: COMMAND,
    transport: 'websocket',
  })
  try {
    await runtime.preflight()
    await warmUp(runtime, signal)
    return await measure(emulator, runtime, job, plan, { clock: systemClock, seed, speed, signal })
  } finally {
    // A job that never came to start its engine has not closed it.
    await runtime.close().finally(() => emulator.close())
  }
}

async function measure(
  emulator: Emulator,
  runtime: Runtime,
  job: JobShape,
  plan: PoolPlan,
  pace: Pace,
): Promise<Measured> {
  const { clock, seed, speed, signal } = pace
  const { maxConcurrent } = job
  const { created } = emulator.counts
  const running = await Job.start('tune', { runtime, threads: 0, pool: plan.pool, maxConcurrent, seed, retries: 0 })
  const meter = makeAliveMeter(clock, () => emulator.existing())
  try {
    const steps = await runSteps(running, job, plan, pace)
    await running.close()
    await untilGone(clock, () => emulator.existing(), signal)
    const { runs } = running
    const failed = runs.filter(({ outcome }) => outcome !== 'graded')
    if (failed.length > 0) throw rolloutsFailed(failed.length, runs.length, failed[0]?.error)
    const usedMs = speed * runs.reduce((sum, run) => sum + leasedMs(run), 0)
    return {
      stepsMs: steps.map(ms => speed * ms),
      idleSeconds: (speed * meter.total() - usedMs) / 1_000,
      usedSeconds: usedMs / 1_000,
      hitRate: runs.filter(({ lease }) => lease === 'hit').length / runs.length,
      created: emulator.counts.created - created,
    }
  } finally {
    meter.stop()
    await running.close()
  }
}

/** The first sandbox starts the environment's server, which takes its time whatever the speed. Past the pool, which is to know of nothing. */
async function warmUp(runtime: Runtime, signal: AbortSignal | undefined): Promise<void> {
  const late = AbortSignal.timeout(WARM_UP_MS)
  const sandbox = await runtime.provision({
    id: toSandboxId(`warm-up-${randomIds.hex(6)}`),
    task: undefined,
    labels: {},
    prewarm: false,
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  })
  await sandbox.dispose({ sessionEnded: false })
}

interface Pace {
  readonly clock: Clock
  readonly seed: number
  readonly speed: number
  readonly signal: AbortSignal | undefined
}

/** Real milliseconds of each step. */
async function runSteps(running: Job, job: JobShape, plan: PoolPlan, pace: Pace): Promise<readonly number[]> {
  const { clock, seed, speed, signal } = pace
  const groups = Math.ceil(job.rollouts / job.group)
  const taskset = toTaskset(groups)
  const durations = new Map<number, number>()
  const agent = createAgent(makeWaitingAgent(clock, seed => (durations.get(seed) ?? 0) / speed))
  const wait = (ms: number) => sleep(clock, Math.max(0, ms) / speed, signal)
  const options = { group: job.group, seed, ...(signal === undefined ? {} : { signal }) }

  async function runStep(step: number): Promise<number> {
    const drawn = drawDurations(job, seed, step)
    const planned = planGroups({ jobId: running.jobId, tasks: taskset.tasks, group: job.group, seed, step })
    for (const { index, members } of planned)
      for (const { member, seed } of members) durations.set(seed, drawn[index * job.group + member] ?? 0)
    if (job.arrivals.type === 'batch') {
      const from = clock.now()
      for await (const _ of running.stream(taskset, agent, { ...options, step }));
      return clock.now() - from
    }
    if (job.arrivals.type === 'staggered') running.expect(job.rollouts)
    const arrivals = drawArrivals(job.arrivals, groups, job.group, seed, step)
    const began = clock.now()
    let from = Number.POSITIVE_INFINITY
    await Promise.all(
      planned.map(async ({ task }, place) => {
        await wait((arrivals[place] ?? 0) - speed * (clock.now() - began))
        from = Math.min(from, clock.now())
        for await (const _ of running.stream(taskset.select([task.slug]), agent, { ...options, step }));
      }),
    )
    return clock.now() - from
  }

  if (job.arrivals.type === 'steady') {
    const stepMs = steadyStepMs(job.arrivals.perSecond, job.rollouts)
    running.expect(job.rollouts * job.steps)
    return Promise.all(
      Array.from({ length: job.steps }, async (_, step) => {
        await wait(step * stepMs)
        return runStep(step)
      }),
    )
  }
  const took: number[] = []
  for (let step = 0; step < job.steps; step += 1) {
    if (step > 0) {
      const leadMs = plan.leadMs === undefined ? undefined : Math.min(plan.leadMs, job.gapMs)
      await wait(job.gapMs - (leadMs ?? 0))
      if (leadMs !== undefined) {
        running.expect(job.rollouts)
        await wait(leadMs)
      }
    }
    took.push(await runStep(step))
  }
  return took
}

function toTaskset(groups: number): Taskset {
  const rows = Array.from({ length: groups }, (_, place) => ({ env: 'arith', id: 'add', args: { a: place, b: 0 } }))
  return new Taskset('arith', rows)
}

/** From the lease to its release. */
function leasedMs({ startedAt, endedAt, timings }: RunHeader): number {
  return endedAt - startedAt - (timings.provisioning ?? 0)
}

const GONE_LOOK_MS = 10
const GONE_LOOKS = 3_000

async function untilGone(clock: Clock, existing: () => number, signal: AbortSignal | undefined): Promise<void> {
  for (let looks = 0; existing() > 0 && looks < GONE_LOOKS; looks += 1) await sleep(clock, GONE_LOOK_MS, signal)
}

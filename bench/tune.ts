import type { JobShape } from '../src/simulation/job.ts'
import { PUBLISHED_MODEL } from '../src/simulation/latency-model.ts'
import { simulate } from '../src/simulation/simulate.ts'
import { toName } from '../src/tune/candidates.ts'
import { type Objective, STRATEGIES, type Strategy, tune } from '../src/tune/index.ts'
import { verify } from '../src/tune/verify/verify.ts'
import type { BenchRow, BenchTable } from './table.ts'

interface Case {
  readonly name: string
  readonly job: JobShape
  readonly strategies: readonly Strategy[]
  readonly objective: Objective
}

const BATCH: JobShape = {
  rollouts: 32,
  group: 8,
  steps: 2,
  maxConcurrent: 32,
  arrivals: { type: 'batch' },
  durations: { type: 'lognormal', p50Ms: 20_000, p95Ms: 36_000 },
  gapMs: 30_000,
}
const READY: Objective = { type: 'hit-rate', atLeast: 0.99 }
const KNEE: Objective = { type: 'knee' }

/** As different as jobs are: how they start, how long they work, what suits them. */
const CASES: readonly Case[] = [
  { name: 'a batch, nothing ready', job: BATCH, strategies: ['cold'], objective: KNEE },
  { name: 'a batch, all of it ready', job: BATCH, strategies: ['prewarm'], objective: READY },
  {
    name: 'half of a batch at a time',
    job: { ...BATCH, maxConcurrent: 16 },
    strategies: ['prewarm'],
    objective: READY,
  },
  {
    name: 'long rollouts, starts staggered',
    job: {
      ...BATCH,
      durations: { type: 'lognormal', p50Ms: 60_000, p95Ms: 90_000 },
      arrivals: { type: 'staggered', overMs: 60_000 },
    },
    strategies: ['prewarm'],
    objective: READY,
  },
  {
    name: 'steady arrivals',
    job: { ...BATCH, rollouts: 64, maxConcurrent: 64, arrivals: { type: 'steady', perSecond: 0.8 }, gapMs: 0 },
    strategies: ['prewarm'],
    objective: READY,
  },
  {
    name: "a batch from the provider's pool",
    job: BATCH,
    strategies: ['provider-pool'],
    objective: { type: 'step-latency', atMostMs: 1 },
  },
]

const SPEED = 3
const QUICK_SPEED = 10
const AIM = 0.1
const SANDBOXES = 100_000
const AIM_MS = 60_000

/**
 * Six jobs: what the tuner chooses for each, simulated and run with the real engine against the emulator; ratios are measured over predicted. And how long it takes to
 * simulate 100,000 sandboxes.
 */
export async function tuneBench({ quick }: { readonly quick: boolean }): Promise<BenchTable> {
  const rows: BenchRow[] = []
  for (const { name, job, strategies, objective } of quick ? CASES.slice(0, 2) : CASES) {
    const request = {
      job,
      strategies,
      objective,
      model: PUBLISHED_MODEL,
      price: { perSandboxSecond: 0, perCreate: 0 },
      seed: 1,
      repetitions: 2,
    }
    const { chosen } = tune(request)
    const { plans, hostMs } = await verify(job, [chosen.candidate], {
      speed: quick ? QUICK_SPEED : SPEED,
      seed: 1,
      steps: job.steps,
    })
    const [found] = plans
    if (found === undefined) continue
    process.stderr.write(
      `${name}: ${toName(chosen.candidate)}; this machine worked ${hostMs.toFixed(1)} ms on a sandbox\n`,
    )
    for (const [what, unit, compared, scale] of [
      ['step', 's', found.stepMs, 1_000],
      ['idle', 'sandbox-s', found.idleSeconds, 1],
    ] as const)
      rows.push({
        name: `${name}: ${what}`,
        value: compared.measured / scale,
        unit,
        reference: `simulated ${(compared.predicted / scale).toFixed(1)}`,
        ratio: compared.ratio,
        aim: `± ${AIM * 100} %`,
        met: Math.abs(compared.ratio - 1) <= AIM,
      })
  }
  rows.push(...(quick ? [] : [wide(1_000, SANDBOXES / 1_000), wide(SANDBOXES, 1)]), published())
  return { title: 'tune: what the simulation says beside the engine on the emulator', rows }
}

function wide(rollouts: number, steps: number): BenchRow {
  const job: JobShape = { ...BATCH, rollouts, steps, maxConcurrent: rollouts, gapMs: 90_000 }
  const plan = { pool: { strategy: 'prewarm', size: rollouts }, leadMs: 60_000 } as const
  const startedAt = performance.now()
  const { created, events } = simulate(job, plan, PUBLISHED_MODEL, 1)
  const ms = performance.now() - startedAt
  return {
    name: `${created.toLocaleString('en')} sandboxes, ${rollouts.toLocaleString('en')} at once`,
    value: ms / 1_000,
    unit: 's',
    reference: `${Math.round(events / 1_000).toLocaleString('en')} k events`,
    aim: `≤ ${AIM_MS / 1_000} s`,
    met: ms <= AIM_MS,
  }
}

/** The published job, as a person would tune it. */
function published(): BenchRow {
  const job: JobShape = {
    ...BATCH,
    rollouts: 128,
    maxConcurrent: 128,
    steps: 10,
    durations: { type: 'lognormal', p50Ms: 50_000, p95Ms: 90_000 },
    gapMs: 94_000,
  }
  const startedAt = performance.now()
  const { chosen, work } = tune({
    job,
    strategies: STRATEGIES,
    objective: READY,
    model: PUBLISHED_MODEL,
    price: { perSandboxSecond: 0, perCreate: 0 },
    seed: 1,
    repetitions: 3,
  })
  const seconds = (performance.now() - startedAt) / 1_000
  return {
    name: `the published job tuned: ${toName(chosen.candidate)}`,
    value: seconds,
    unit: 's',
    reference: `${work.simulations} simulations`,
    aim: 'a pool of 128 or more',
    met: chosen.candidate.size >= 128,
  }
}

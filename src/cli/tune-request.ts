import { readReceiptFile } from '../receipts/index.ts'
import { fitLatencyModel, type LatencyModel, PUBLISHED_MODEL, toLadder } from '../simulation/index.ts'
import type { JobShape } from '../simulation/job.ts'
import type { LadderRow } from '../simulation/ladder-row.ts'
import type { Objective, TuneRequest } from '../tune/index.ts'
import type { TuneArguments } from './commands/tune.ts'
import { conflictingOptions, groupsNotWhole, missingOption } from './errors.ts'

const DEFAULT_GAP_MS = 94_000
const DEFAULT_HIT_RATE = 0.99

/** What is to be tuned. `measure` measures live, where that is asked for. Throws what contradicts itself or is missing, and what is wrong with a receipt. */
export async function toTuneRequest(
  options: TuneArguments,
  measure: () => Promise<readonly LadderRow[]>,
): Promise<TuneRequest> {
  const { strategies, repetitions, seed, price = 0, priceCreate = 0 } = options
  const objective = toObjective(options)
  if (options.verify !== true)
    for (const [option, value] of [
      ['--speed', options.speed],
      ['--verify-steps', options.verifySteps],
    ] as const)
      if (value !== undefined) throw missingOption('--verify', `${option} is of the emulator that it starts`)
  return {
    job: toJob(options),
    model: await toModel(options, measure),
    objective,
    strategies,
    price: { perSandboxSecond: price, perCreate: priceCreate },
    seed,
    repetitions,
  }
}

function toJob({ rollouts, group, steps, duration, gap, maxConcurrent = rollouts, arrivals }: TuneArguments): JobShape {
  if (rollouts % group !== 0) throw groupsNotWhole(rollouts, group)
  if (arrivals.type === 'steady' && gap !== undefined)
    throw conflictingOptions('--gap', '--arrivals steady', 'steady arrivals leave no gap between steps')
  const middle = duration.type === 'lognormal' ? duration.p50Ms : medianOf(duration.ms)
  return {
    rollouts,
    group,
    steps,
    maxConcurrent,
    arrivals: arrivals.type === 'staggered' ? { type: 'staggered', overMs: arrivals.overMs ?? middle } : arrivals,
    durations: duration,
    gapMs: arrivals.type === 'steady' ? 0 : (gap ?? DEFAULT_GAP_MS),
  }
}

function toObjective({ targetHitRate, maxStep, budget, knee, price, priceCreate }: TuneArguments): Objective {
  const asked = [
    ['--target-hit-rate', targetHitRate],
    ['--max-step', maxStep],
    ['--budget', budget],
    ['--knee', knee],
  ] as const
  const [one, other] = asked.filter(([, value]) => value !== undefined).map(([option]) => option)
  if (one !== undefined && other !== undefined) throw conflictingOptions(one, other, 'a plan is chosen for one of them')
  if (maxStep !== undefined) return { type: 'step-latency', atMostMs: maxStep }
  if (knee === true) return { type: 'knee' }
  if (budget === undefined) return { type: 'hit-rate', atLeast: targetHitRate ?? DEFAULT_HIT_RATE }
  if (price === undefined && priceCreate === undefined) throw missingOption('--price', 'a budget is spent on sandboxes')
  return { type: 'budget', perStep: budget }
}

async function toModel(
  { live, emulator, receipt: receipts, ...options }: TuneArguments,
  measure: () => Promise<readonly LadderRow[]>,
): Promise<LatencyModel> {
  if (live === true) {
    if (receipts.length > 0) throw conflictingOptions('--live', '--receipt', 'the model is fitted to one or the other')
    return fitLatencyModel(await measure(), 'a model fitted to a ladder measured just now')
  }
  if (emulator === true) throw missingOption('--live', '--emulator says where that measures')
  if (options.runtime !== undefined) throw missingOption('--live', '--runtime says where that measures')
  if (receipts.length === 0) return PUBLISHED_MODEL
  const rows: LadderRow[] = []
  for (const path of receipts) rows.push(...toLadder(await readReceiptFile(path), path))
  return fitLatencyModel(rows, `a model fitted to ${receipts.join(', ')}`)
}

const medianOf = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0

/** Learns in the calling thread: the compiled gradient, summed in the order of the data, and Adam on the host. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { adamStep, type Optimised } from '../adam.ts'
import { type Embedder, makeEmbedder } from '../embed.ts'
import { badOptimiser, lossNotFinite, nothingAccumulated, notLoaded, policyClosed } from '../errors.ts'
import { isClipped, ratioBounds, tokenLoss } from '../losses.ts'
import { type MergedRow, mergeRows, tokenWeight } from '../merge-rows.ts'
import { packRows } from '../pack-rows.ts'
import type {
  AccumulateResult,
  AdamOptions,
  Datum,
  Loss,
  ModelShape,
  PolicyTrainer,
  TrainingState,
  Weights,
} from '../policy.ts'
import { checkShape, checkWeights, copyWeights, zeroWeights } from '../weights.ts'
import { dispose, loadJax, type Tensors, toTensors } from './library.ts'
import { type Extents, type GradientMachine, type MicrobatchPorts, makeGradientMachine } from './microbatch.ts'

/** Bins of a microbatch, each as long as the context. More are no faster, and leave more of them empty. */
const BINS = 4

interface Loaded extends Optimised {
  step: number
  gradient: Weights | undefined
  parameters: Tensors
  embedder: Embedder
}

/** A trainer that works in the thread that calls it. Its calls wait for each other; between microbatches the event loop turns. */
export async function makeJaxTrainer(shape: ModelShape): Promise<PolicyTrainer> {
  checkShape(shape)
  const jax = await loadJax()
  const extents = { bins: BINS, length: shape.context }
  const machine = { run: makeGradientMachine(jax, shape, extents), extents }
  let loaded: Loaded | undefined
  let closed = false
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const run = async () => {
      if (closed) throw policyClosed('trainer')
      return work()
    }
    const result = last.then(run, run)
    last = result.catch(() => {})
    return result
  }
  const current = (): Loaded => {
    if (loaded === undefined) throw notLoaded('trainer')
    return loaded
  }

  return {
    load: state =>
      inTurn(async () => {
        for (const weights of [state.weights, state.first, state.second, state.gradient])
          if (weights !== undefined) checkWeights(shape, weights)
        if (loaded !== undefined) dispose(loaded.parameters)
        loaded = {
          weights: copyWeights(state.weights),
          first: copyWeights(state.first),
          second: copyWeights(state.second),
          step: state.step,
          gradient: state.gradient === undefined ? undefined : copyWeights(state.gradient),
          parameters: toTensors(jax, state.weights),
          embedder: makeEmbedder(shape, state.weights),
        }
      }),
    accumulate: (data, loss) =>
      inTurn(async () => {
        const state = current()
        const rows = mergeRows(data, loss, shape)
        if (rows.length === 0) return { loss: 0, tokens: 0, kl: 0, clipped: 0 }
        const sum = zeroWeights(shape)
        const { logprobs, oddRow } = await runRows(machine, rows, { ...state, bounds: ratioBounds(loss), sum })
        const result = sumUp(data, loss, rows, logprobs)
        if (oddRow !== undefined)
          throw lossNotFinite(
            rows[oddRow]?.data[0] ?? 0,
            'the gradient of it, or of a datum computed beside it, is not',
          )
        if (state.gradient === undefined) state.gradient = sum
        else addTo(state.gradient, sum)
        return result
      }),
    logprobs: data =>
      inTurn(async () => {
        const loss: Loss = { name: 'cross_entropy' }
        const rows = mergeRows(data, loss, shape)
        const { logprobs: found } = await runRows(machine, rows, { ...current(), bounds: ratioBounds(loss) })
        const byDatum = data.map(() => new Float32Array(0))
        for (const [i, row] of rows.entries())
          for (const index of row.data) byDatum[index] = found[i]?.slice() ?? new Float32Array(0)
        return byDatum
      }),
    step: options =>
      inTurn(async () => {
        checkOptimiser(options)
        const state = current()
        if (state.gradient === undefined) throw nothingAccumulated()
        state.step += 1
        adamStep(state, state.gradient, state.step, options)
        state.gradient = undefined
        dispose(state.parameters)
        state.parameters = toTensors(jax, state.weights)
        state.embedder = makeEmbedder(shape, state.weights)
        return copyWeights(state.weights)
      }),
    state: () =>
      inTurn(async (): Promise<TrainingState> => {
        const { weights, first, second, step, gradient } = current()
        return {
          weights: copyWeights(weights),
          first: copyWeights(first),
          second: copyWeights(second),
          step,
          ...(gradient === undefined ? {} : { gradient: copyWeights(gradient) }),
        }
      }),
    async close() {
      closed = true
      await last
      if (loaded !== undefined) dispose(loaded.parameters)
      loaded = undefined
    },
  }
}

/**
 * Log-probabilities for each row; the gradient is added to `sum`, where there is one, microbatch after microbatch. `oddRow` is the first
 * row of the first microbatch after which the sum is not finite.
 */
async function runRows(
  { run, extents }: { readonly run: GradientMachine; readonly extents: Extents },
  rows: readonly MergedRow[],
  ports: MicrobatchPorts,
): Promise<{ readonly logprobs: Float32Array[]; readonly oddRow: number | undefined }> {
  let oddRow: number | undefined
  const logprobs: Float32Array[] = rows.map(() => new Float32Array(0))
  const bins = packRows(rows, extents.length)
  for (let start = 0; start < bins.length; start += extents.bins) {
    const found = await run(bins.slice(start, start + extents.bins), ports)
    for (const [index, values] of found) logprobs[index] = values
    if (oddRow === undefined && ports.sum !== undefined && !allFinite(ports.sum)) oddRow = Math.min(...found.keys())
    await nextTurn()
  }
  return { logprobs, oddRow }
}

function allFinite(weights: Weights): boolean {
  return Object.values(weights).every(({ values }) => values.every(Number.isFinite))
}

function addTo(sum: Weights, added: Weights): void {
  for (const [name, { values }] of Object.entries(sum)) {
    const more = added[name]?.values ?? new Float32Array(0)
    for (let i = 0; i < values.length; i += 1) values[i] = (values[i] ?? 0) + (more[i] ?? 0)
  }
}

/** The figures of a call. Throws `loss-not-finite` for the first datum of which float32 cannot hold the loss. */
function sumUp(
  data: readonly Datum[],
  loss: Loss,
  rows: readonly MergedRow[],
  logprobs: readonly Float32Array[],
): AccumulateResult {
  const byDatum: Float32Array[] = []
  for (const [i, row] of rows.entries())
    for (const index of row.data) byDatum[index] = logprobs[i] ?? new Float32Array(0)
  let total = 0
  let tokens = 0
  let gap = 0
  let clipped = 0
  for (const [index, datum] of data.entries()) {
    for (const [t, logprob] of (byDatum[index] ?? new Float32Array(0)).entries()) {
      const sampled = datum.logprobs[t] ?? 0
      const weight = tokenWeight(loss, datum, index, t)
      const value = tokenLoss(loss, weight, logprob, sampled)
      if (!Number.isFinite(Math.fround(value)))
        throw lossNotFinite(
          index,
          `output token ${t} has a log-probability of ${logprob} and had ${sampled} when it was sampled`,
        )
      total += value
      tokens += 1
      gap += sampled - logprob
      if (isClipped(loss, weight, logprob, sampled)) clipped += 1
    }
  }
  return { loss: total, tokens, kl: tokens === 0 ? 0 : gap / tokens, clipped: tokens === 0 ? 0 : clipped / tokens }
}

function checkOptimiser({ learningRate, beta1, beta2, eps, weightDecay }: AdamOptions): void {
  if (!(learningRate > 0 && Number.isFinite(learningRate)))
    throw badOptimiser(`the learning rate is ${learningRate} and must be above 0`)
  for (const [name, beta] of [
    ['beta1', beta1],
    ['beta2', beta2],
  ] as const)
    if (!(beta >= 0 && beta < 1)) throw badOptimiser(`${name} is ${beta} and must be from 0 to below 1`)
  if (!(eps > 0)) throw badOptimiser(`eps is ${eps} and must be above 0`)
  if (!(weightDecay >= 0)) throw badOptimiser(`the weight decay is ${weightDecay} and must not be negative`)
}

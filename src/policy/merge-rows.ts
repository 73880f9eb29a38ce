/**
 * Data that agree in tokens and in sampling log-probabilities are one row: many rollouts take the same turn, and the sum of their
 * coefficients has the gradient of the whole. 300 turns of a step become 20 to 50 rows.
 */
import { badDatum, lossNotFinite } from './errors.ts'
import { coefficientsOf } from './losses.ts'
import type { Datum, Loss, ModelShape } from './policy.ts'

/** Values for every token in the order of `Coefficients`: up, down, held, plain, pull. */
export const COEFFICIENTS = ['up', 'down', 'held', 'plain', 'pull'] as const

export interface MergedRow {
  /** Prompt and output. */
  readonly tokens: Uint32Array
  readonly promptLength: number
  /** Log-probabilities at sampling, one for each output token; zeros where the loss does not use them. */
  readonly sampled: Float32Array
  /** Sums over the row's data, one array for each of `COEFFICIENTS`, one value for each output token. */
  readonly coefficients: readonly Float64Array[]
  /** The data that are in it, as indices. */
  readonly data: number[]
}

/** Rows in the order of their first data. Throws `bad-datum` or `loss-not-finite` for the first datum that cannot be trained on. */
export function mergeRows(data: readonly Datum[], loss: Loss, shape: ModelShape): MergedRow[] {
  const rows = new Map<string, MergedRow>()
  const usesSampled = loss.name !== 'cross_entropy' && loss.name !== 'weights'
  for (const [index, datum] of data.entries()) {
    checkDatum(datum, index, loss, shape)
    const sampled = usesSampled ? datum.logprobs : new Float32Array(datum.output.length)
    const key = `${bytesOf(datum.prompt)}|${bytesOf(datum.output)}|${usesSampled ? bytesOf(sampled) : ''}`
    let row = rows.get(key)
    if (row === undefined) {
      row = makeRow(datum, sampled)
      rows.set(key, row)
    }
    row.data.push(index)
    addCoefficients(row, loss, t => tokenWeight(loss, datum, index, t))
  }
  return [...rows.values()]
}

/** The weight of a datum's `t`-th output token: its own where the loss brings one, else the datum's advantage. */
export function tokenWeight(loss: Loss, datum: Datum, index: number, t: number): number {
  return loss.name === 'weights' ? (loss.weights[index]?.[t] ?? Number.NaN) : datum.advantage
}

function makeRow({ prompt, output }: Datum, sampled: Float32Array): MergedRow {
  const tokens = new Uint32Array(prompt.length + output.length)
  tokens.set(prompt)
  tokens.set(output, prompt.length)
  return {
    tokens,
    promptLength: prompt.length,
    sampled,
    coefficients: COEFFICIENTS.map(() => new Float64Array(output.length)),
    data: [],
  }
}

function addCoefficients(row: MergedRow, loss: Loss, weight: (t: number) => number): void {
  for (let t = 0; t < row.sampled.length; t += 1) {
    const added = coefficientsOf(loss, weight(t))
    for (const [i, name] of COEFFICIENTS.entries()) {
      const sums = row.coefficients[i]
      if (sums !== undefined) sums[t] = (sums[t] ?? 0) + added[name]
    }
  }
}

function checkDatum(datum: Datum, index: number, loss: Loss, shape: ModelShape): void {
  const { prompt, output, logprobs, advantage } = datum
  if (prompt.length === 0) throw badDatum(index, 'its prompt is empty')
  if (prompt.length + output.length > shape.context)
    throw badDatum(index, `${prompt.length} + ${output.length} tokens are more than the context of ${shape.context}`)
  if (logprobs.length !== output.length)
    throw badDatum(index, `it has ${output.length} output tokens and ${logprobs.length} log-probabilities`)
  const stranger = [...prompt, ...output].find(token => token >= shape.vocabulary)
  if (stranger !== undefined) throw badDatum(index, `token ${stranger} is not among the ${shape.vocabulary} known`)
  const weights = loss.name === 'weights' ? loss.weights[index] : undefined
  if (loss.name === 'weights' && weights?.length !== output.length)
    throw badDatum(index, `it has ${output.length} output tokens and ${weights?.length ?? 0} weights`)
  if (!Number.isFinite(advantage)) throw lossNotFinite(index, `its advantage is ${advantage}`)
  const odd = [...logprobs].findIndex(value => !Number.isFinite(value))
  if (odd >= 0) throw lossNotFinite(index, `the sampling log-probability of output token ${odd} is ${logprobs[odd]}`)
  const oddWeight = weights?.findIndex(value => !Number.isFinite(value)) ?? -1
  if (oddWeight >= 0) throw lossNotFinite(index, `the weight of output token ${oddWeight} is ${weights?.[oddWeight]}`)
}

function bytesOf(values: Uint32Array | Float32Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('latin1')
}

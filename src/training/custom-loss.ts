import { badWeights } from './errors.ts'

/** One turn after a forward pass; the three arrays have one length. */
export interface DatumTensors {
  readonly reward: number
  /** Place of its run among the inputs; turns of one run share it. */
  readonly trajectoryIndex: number
  /** Place of its group; null without `groupSize`. */
  readonly groupIndex: number | null
  /** Under the current weights. */
  readonly logprobs: readonly number[]
  /** Under the weights that sampled it. */
  readonly samplingLogprobs: readonly number[]
  /** 1 where the policy acted, 0 where it was shown something. */
  readonly mask: readonly number[]
}

/** What a forward pass gives a loss of one's own: the numbers of every sample, and the id by which the gradient is sent. */
export interface ForwardResult {
  readonly forwardId: string
  readonly data: readonly DatumTensors[]
}

/** `weights[d][t]` is −∂C/∂logprob of token t of datum d. */
export interface CustomLoss {
  readonly weights: readonly (readonly number[] | Float32Array)[]
  /** The caller's own figures; the service keeps them with the step. */
  readonly metrics?: Readonly<Record<string, number>>
}

/** A loss over what the policy thinks now. Called once for each part of a batch that had to be split. */
export type CustomLossFunction = (data: readonly DatumTensors[]) => CustomLoss

/** How rewards become advantages in a forward pass. */
export interface ForwardOptions {
  /** Runs in each group; absent, all runs are one group. */
  readonly groupSize?: number
  /** Default 1. */
  readonly rewardScale?: number
}

/** Indices that count in the whole batch, of data whose pass was for a later part of it. */
export function shiftIndices(data: readonly DatumTensors[], runs: number, groups: number): DatumTensors[] {
  return data.map(datum => ({
    ...datum,
    trajectoryIndex: datum.trajectoryIndex + runs,
    groupIndex: datum.groupIndex === null ? null : datum.groupIndex + groups,
  }))
}

/** The weights in floats of 32 bits. Throws `bad-weights`, naming the datum, for one that is no finite number. */
export function toRows(weights: CustomLoss['weights']): Float32Array<ArrayBuffer>[] {
  return weights.map((row, datum) => {
    const floats = Float32Array.from(row)
    const token = floats.findIndex(value => !Number.isFinite(value))
    if (token >= 0) throw badWeights(datum, `has ${row[token]} for token ${token}, no finite number`)
    return floats
  })
}

/** Throws `bad-weights` where a datum or a token has no weight of its own. */
export function checkWeights(weights: CustomLoss['weights'], data: readonly DatumTensors[]): void {
  for (let datum = 0; datum < Math.max(weights.length, data.length); datum += 1) {
    const given = weights[datum]?.length ?? 0
    const wanted = data[datum]?.logprobs.length ?? 0
    if (given !== wanted) throw badWeights(datum, `has ${given} weights for ${wanted} tokens`)
  }
}

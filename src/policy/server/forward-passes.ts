import type { IdSource } from '../../ids.ts'
import type { Datum } from '../policy.ts'
import type { Batch } from './batch.ts'
import { badRequest, unknownForward } from './errors.ts'
import { count, type ForwardBackwardReply, gradientOf, naming, type Trained } from './forward-backward.ts'
import { toTally } from './metrics.ts'

/** Forward passes that wait for their gradients; an older one is forgotten. */
const KEPT = 8

export interface ForwardReply {
  readonly forward_id: string
  readonly data: readonly {
    /** Scaled. */
    readonly reward: number
    readonly traj_idx: number
    /** Null when the call named no group size. */
    readonly group_idx: number | null
    readonly logprobs: readonly number[]
    readonly sampling_logprobs: readonly number[]
    /** 1 for each output token; prompts are not part of the data here. */
    readonly mask: readonly number[]
  }[]
}

export interface BackwardCall {
  readonly forwardId: string
  /** For each datum and output token minus the slope of the caller's loss. */
  readonly weights: readonly Float32Array[]
  readonly metrics: Readonly<Record<string, number>>
  readonly callId: string | undefined
}

/** The two halves of a loss that the caller computes: log-probabilities out, gradients in. */
export interface ForwardPasses {
  forward(batch: Batch, isGrouped: boolean): Promise<ForwardReply>
  /** Uses the pass up. Throws `unknown-forward`, or `bad-request` where the weights do not fit it. */
  backward(call: BackwardCall): Promise<ForwardBackwardReply>
  /** The weights have changed: gradients against the old ones are worth nothing. */
  forget(): void
}

interface Pass {
  readonly batch: Batch
  readonly data: readonly Datum[]
  readonly places: readonly string[]
}

export function makeForwardPasses(trained: Trained, ids: IdSource): ForwardPasses {
  const passes = new Map<string, Pass>()
  return {
    async forward(batch, isGrouped) {
      const placed = batch.inputs.flatMap(({ data, reward }, trajectory) =>
        data.map(datum => ({ datum, trajectory, reward: reward * batch.rewardScale })),
      )
      const data = placed.map(({ datum: { prompt, output, logprobs } }) => ({ prompt, output, logprobs, advantage: 0 }))
      const places = placed.map(({ datum }) => datum.place)
      const logprobs = await trained.learner.use(trainer => naming(places, () => trainer.logprobs(data)))
      const forwardId = `forward-${ids.hex(12)}`
      passes.set(forwardId, { batch, data, places })
      const [oldest] = passes.keys()
      if (passes.size > KEPT && oldest !== undefined) passes.delete(oldest)
      return {
        forward_id: forwardId,
        data: placed.map(({ datum, trajectory, reward }, index) => ({
          reward,
          traj_idx: trajectory,
          group_idx: isGrouped ? Math.floor(trajectory / batch.groupSize) : null,
          logprobs: [...(logprobs[index] ?? [])],
          sampling_logprobs: [...datum.logprobs],
          mask: Array.from(datum.output, () => 1),
        })),
      }
    },
    async backward({ forwardId, weights, metrics, callId }) {
      const pass = passes.get(forwardId)
      if (pass === undefined) throw unknownForward(forwardId)
      const { batch } = pass
      checkWeights(pass, weights)
      const used = pass.data
        .map((datum, index) => ({
          datum,
          weights: weights[index] ?? new Float32Array(0),
          place: pass.places[index] ?? '',
        }))
        .filter(each => each.weights.some(weight => weight !== 0))
      const data = used.map(({ datum }) => datum)
      const rewards = batch.inputs.map(({ reward }) => reward)
      const reply = await count(
        trained,
        callId,
        null,
        data,
        result => ({
          callId,
          tally: toTally(rewards, batch.groupSize, data.length, result, batch.hasLogprobs),
          lossName: 'custom',
          later: null,
          figures: metrics,
        }),
        async trainer => {
          const loss = { name: 'weights', weights: used.map(each => each.weights) } as const
          const places = used.map(({ place }) => place)
          const result = await naming(places, () => trainer.accumulate(data, loss))
          return { result, added: await gradientOf(trainer) }
        },
      )
      passes.delete(forwardId)
      return { ...reply, metrics: { ...reply.metrics, ...metrics } }
    },
    forget: () => passes.clear(),
  }
}

function checkWeights({ data }: Pass, weights: readonly Float32Array[]): void {
  if (weights.length !== data.length)
    throw badRequest('weights', `${weights.length} lists for the ${data.length} data of this forward pass`)
  for (const [index, { output }] of data.entries())
    if (weights[index]?.length !== output.length)
      throw badRequest(`weights[${index}]`, `${weights[index]?.length} weights for ${output.length} output tokens`)
}

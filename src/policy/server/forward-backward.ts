import { TroupeError } from '../../errors.ts'
import type { AccumulateResult, Datum, PolicyTrainer } from '../policy.ts'
import { type CountedCall, nothingLearned, refuseCounted, refuseMixed, withCall } from './accumulated.ts'
import { type Batch, weigh } from './batch.ts'
import { badRequest, lossNotFinite } from './errors.ts'
import type { Learner } from './learner.ts'
import type { LossPlan } from './loss-plan.ts'
import { evaluateLoss } from './loss-value.ts'
import { type Tally, toMetrics, toTally } from './metrics.ts'
import type { LaterPlan } from './records.ts'
import type { Store } from './store.ts'

/** A model as the training calls see it. */
export interface Trained {
  readonly modelId: string
  readonly store: Store
  readonly learner: Learner
}

export interface ForwardBackwardCall {
  readonly batch: Batch
  readonly plan: LossPlan
  /** Minibatches in a pass of the optim-step. */
  readonly numSubsteps: number
  readonly callId: string | undefined
}

export interface ForwardBackwardReply {
  readonly metrics: Readonly<Record<string, number>>
  /** Data that were trained on: those of groups whose rewards differ. */
  readonly num_datums: number
}

/**
 * Adds a call's gradient to what is accumulated; with several updates in the optim-step its data are kept instead, because each
 * update needs gradients under the weights of that moment. Durable when it resolves; when it rejects, nothing was counted.
 */
export async function forwardBackward(trained: Trained, call: ForwardBackwardCall): Promise<ForwardBackwardReply> {
  const { batch, plan, numSubsteps } = call
  const later: LaterPlan | null =
    numSubsteps * plan.epochs > 1 ? { numSubsteps, epochs: plan.epochs, loss: plan.loss } : null
  const { trajectories, places } = weigh(batch, plan.name === 'cross_entropy')
  const data = trajectories.flat()
  const rewards = batch.inputs.map(({ reward }) => reward)
  const toCall = (result: AccumulateResult): CountedCall => ({
    callId: call.callId,
    tally: toTally(rewards, batch.groupSize, data.length, result, batch.hasLogprobs),
    lossName: plan.name,
    later,
    figures: {},
  })
  if (later === null)
    return await count(trained, call.callId, later, data, toCall, async trainer => {
      const result = await naming(places, () => trainer.accumulate(data, plan.loss))
      return { result, added: await gradientOf(trainer) }
    })
  return await count(trained, call.callId, later, data, toCall, async trainer => {
    const logprobs = await naming(places, () => trainer.logprobs(data))
    const result = await naming(places, async () => evaluateLoss(data, logprobs, plan.loss))
    return { result, added: { kept: trajectories } }
  })
}

type Added = Parameters<Store['accumulate']>[2]

/** The part that all accumulating calls share. `learn` runs only where there are data. */
export async function count(
  { modelId, store, learner }: Trained,
  callId: string | undefined,
  later: LaterPlan | null,
  data: readonly Datum[],
  toCall: (result: AccumulateResult) => CountedCall,
  learn: (trainer: PolicyTrainer) => Promise<{ readonly result: AccumulateResult; readonly added: Added }>,
): Promise<ForwardBackwardReply> {
  const model = store.find(modelId)
  refuseCounted(model, callId)
  refuseMixed(model.accumulated, later)
  const keep = async (result: AccumulateResult, added: Added): Promise<Tally> => {
    const call = toCall(result)
    await store.accumulate(modelId, withCall(model.accumulated, call), added)
    return call.tally
  }
  const tally =
    data.length === 0
      ? await keep(nothingLearned, {})
      : await learner.use(async trainer => {
          const { result, added } = await learn(trainer)
          return await keep(result, added)
        })
  return { metrics: toMetrics(tally), num_datums: data.length }
}

export async function gradientOf(trainer: PolicyTrainer): Promise<Added> {
  const { gradient } = await trainer.state()
  return gradient === undefined ? {} : { gradient }
}

/** Refusals of a trainer count the data it was given; here they get the caller's names for them. */
export async function naming<Value>(places: readonly string[], body: () => Promise<Value>): Promise<Value> {
  try {
    return await body()
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    const { datum } = error.data.details ?? {}
    const place = typeof datum === 'number' ? places[datum] : undefined
    if (place === undefined) throw error
    if (error.tag === 'loss-not-finite') throw lossNotFinite(place, error)
    if (error.tag === 'bad-datum') throw badRequest(place, error.message)
    throw error
  }
}

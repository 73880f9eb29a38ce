import { deriveSeed } from '../../random.ts'
import type { AdamOptions, PolicyTrainer, Weights } from '../policy.ts'
import { nothingAccumulated } from './errors.ts'
import { naming, type Trained } from './forward-backward.ts'
import { toMinibatches } from './minibatches.ts'
import type { CheckpointRecord, LaterPlan } from './records.ts'

export interface Stepped {
  readonly checkpoint: CheckpointRecord
  readonly weights: Weights
}

/**
 * Applies what is accumulated and keeps the result as the new head: one Adam update with the summed gradient or, where the data were
 * kept, one for each minibatch. Either the checkpoint is durable when it resolves, or nothing has changed. Throws `nothing-accumulated`,
 * or `loss-not-finite` naming the minibatch.
 */
export async function optimStep({ modelId, store, learner }: Trained, adam: AdamOptions): Promise<Stepped> {
  const { accumulated, head, checkpoints } = store.find(modelId)
  if (accumulated === null || accumulated.tally.datums === 0) throw nothingAccumulated(accumulated?.calls ?? 0)
  const step = (checkpoints.find(({ id }) => id === head)?.step ?? 0) + 1
  return await learner.use(async trainer => {
    if (accumulated.later === null) await trainer.step(adam)
    else await minibatchUpdates(trainer, accumulated.later, await store.readKept(modelId), step, adam)
    const state = await trainer.state()
    const { tally, lossName, figures, callIds } = accumulated
    const made = { tally, lossName, figures, callIds, learningRate: adam.learningRate }
    const checkpoint = await store.addCheckpoint(modelId, made, state)
    return { checkpoint, weights: state.weights }
  })
}

async function minibatchUpdates(
  trainer: PolicyTrainer,
  { numSubsteps, epochs, loss }: LaterPlan,
  trajectories: Parameters<typeof toMinibatches>[0],
  step: number,
  adam: AdamOptions,
): Promise<void> {
  const seed = deriveSeed('minibatches', step)
  const batches = toMinibatches(trajectories, { count: numSubsteps, epochs, seed })
  for (const [index, batch] of batches.entries()) {
    const places = batch.map((_, datum) => `update ${index + 1} of ${batches.length}, datum ${datum}`)
    await naming(places, () => trainer.accumulate(batch, loss))
    await trainer.step(adam)
  }
}

import type { IdSource } from '../../ids.ts'
import type { AdamOptions, PolicyTrainer, Weights } from '../policy.ts'
import type { Batch } from './batch.ts'
import { serverClosing, trainingQueueFull } from './errors.ts'
import { type ForwardBackwardCall, type ForwardBackwardReply, forwardBackward } from './forward-backward.ts'
import { type BackwardCall, type ForwardReply, makeForwardPasses } from './forward-passes.ts'
import { makeLearner } from './learner.ts'
import { optimStep } from './optim-step.ts'
import type { CheckpointRecord, ModelRecord } from './records.ts'
import { makeSerial } from './serial.ts'
import type { Store } from './store.ts'

const MAX_WAITING = 64

export interface TrainingStateReply {
  readonly step: number
  /** Null while the base is served. */
  readonly head: string | null
  readonly accumulated: { readonly calls: number; readonly datums: number; readonly call_ids: readonly string[] }
}

/**
 * The training calls of one model, made one after the other in the order of their arrival, questions about the state included. A call
 * is made whether or not its caller is still there: what it adds survives the caller.
 */
export interface TrainingSession {
  forwardBackward(call: ForwardBackwardCall): Promise<ForwardBackwardReply>
  forward(batch: Batch, isGrouped: boolean): Promise<ForwardReply>
  backward(call: BackwardCall): Promise<ForwardBackwardReply>
  optimStep(adam: AdamOptions): Promise<CheckpointRecord>
  state(): Promise<TrainingStateReply>
  /** To a checkpoint, or null for the base. What was accumulated is dropped, and returned. */
  setHead(checkpointId: string | null): Promise<TrainingStateReply['accumulated']>
  /** Lets the call under way end and refuses those that wait. */
  close(): Promise<void>
}

export interface TrainingPorts {
  readonly modelId: string
  readonly store: Store
  readonly startTrainer: () => Promise<PolicyTrainer>
  /** Resolves when the new weights are served. */
  readonly publish: (weights: Weights, version: string) => Promise<void>
  readonly ids: IdSource
}

export function makeTrainingSession({ modelId, store, startTrainer, publish, ids }: TrainingPorts): TrainingSession {
  const serial = makeSerial(MAX_WAITING, { full: () => trainingQueueFull(MAX_WAITING), closed: serverClosing })
  const learner = makeLearner(startTrainer, async () => {
    const state = await store.readState(modelId, store.find(modelId).head)
    const gradient = await store.readGradient(modelId)
    return gradient === undefined ? state : { ...state, gradient }
  })
  const trained = { modelId, store, learner }
  const passes = makeForwardPasses(trained, ids)
  return {
    forwardBackward: call => serial.run(() => forwardBackward(trained, call)),
    forward: (batch, isGrouped) => serial.run(() => passes.forward(batch, isGrouped)),
    backward: call => serial.run(() => passes.backward(call)),
    optimStep: adam =>
      serial.run(async () => {
        const { checkpoint, weights } = await optimStep(trained, adam)
        passes.forget()
        await publish(weights, checkpoint.id)
        return checkpoint
      }),
    state: () => serial.run(async () => toStateReply(store.find(modelId))),
    setHead: checkpointId =>
      serial.run(async () => {
        const { accumulated } = toStateReply(store.find(modelId))
        await store.setHead(modelId, checkpointId)
        learner.reload()
        passes.forget()
        const { weights } = await store.readState(modelId, checkpointId)
        await publish(weights, toVersion(checkpointId))
        return accumulated
      }),
    async close() {
      await serial.close()
      await learner.close()
    },
  }
}

/** How the weights are named in replies: the checkpoint's id, or `base`. */
export function toVersion(checkpointId: string | null): string {
  return checkpointId ?? 'base'
}

export function stepOf({ head, checkpoints }: ModelRecord): number {
  return checkpoints.find(({ id }) => id === head)?.step ?? 0
}

function toStateReply(model: ModelRecord): TrainingStateReply {
  const { accumulated, head } = model
  return {
    step: stepOf(model),
    head,
    accumulated: {
      calls: accumulated?.calls ?? 0,
      datums: accumulated?.tally.datums ?? 0,
      call_ids: accumulated?.callIds ?? [],
    },
  }
}

import type { IdSource } from '../../ids.ts'
import type { PolicyTrainer, SampleRequest, SampleResult, Sampler } from '../policy.ts'
import { modelsBusy } from './errors.ts'
import { makeServedSampler } from './served-sampler.ts'
import type { Store } from './store.ts'
import { makeTrainingSession, type TrainingSession, toVersion } from './training-session.ts'

/** A model with threads of its own, each started when first needed. */
export interface LoadedModel extends TrainingSession {
  ready(): Promise<void>
  sample(request: SampleRequest, signal: AbortSignal): Promise<SampleResult>
}

/** Models in use: few at a time, because each has threads and their memory. */
export interface LoadedModels {
  /**
   * Keeps the model loaded at least until `body` has ended. The one that was not used for longest makes room; what is accumulated
   * for it is in the store. Rejects with `queue-full` when all are in use.
   */
  use<Value>(modelId: string, body: (model: LoadedModel) => Promise<Value>): Promise<Value>
  close(): Promise<void>
}

export interface Machines {
  startSampler(): Promise<Sampler>
  startTrainer(): Promise<PolicyTrainer>
}

interface Entry {
  readonly model: LoadedModel
  users: number
}

export function makeLoadedModels(store: Store, machines: Machines, ids: IdSource, limit: number): LoadedModels {
  /** The one used last is at the end. */
  const entries = new Map<string, Entry>()
  /** Models on their way out: their threads count until they have ended. */
  const leaving = new Map<string, Promise<void>>()

  /** Counted among the users at once: between here and the caller nobody may take it for idle. */
  async function enter(modelId: string): Promise<Entry> {
    for (;;) {
      const found = entries.get(modelId)
      if (found !== undefined) {
        found.users += 1
        return found
      }
      const going = leaving.get(modelId) ?? (entries.size + leaving.size >= limit ? makeRoom() : undefined)
      if (going === undefined) break
      await going
    }
    const entry = { model: load(store, machines, ids, modelId), users: 1 }
    entries.set(modelId, entry)
    return entry
  }

  function makeRoom(): Promise<void> {
    const idle = [...entries].find(([, { users }]) => users === 0)
    if (idle === undefined) {
      const [soon] = leaving.values()
      if (soon === undefined) throw modelsBusy(limit)
      return soon
    }
    const [modelId, { model }] = idle
    entries.delete(modelId)
    // A thread that did not end well is gone all the same.
    const gone = model
      .close()
      .catch(() => {})
      .finally(() => leaving.delete(modelId))
    leaving.set(modelId, gone)
    return gone
  }

  return {
    async use(modelId, body) {
      const entry = await enter(modelId)
      entries.delete(modelId)
      entries.set(modelId, entry)
      try {
        return await body(entry.model)
      } finally {
        entry.users -= 1
      }
    },
    async close() {
      await Promise.all([...[...entries.values()].map(({ model }) => model.close()), ...leaving.values()])
    },
  }
}

function load(store: Store, { startSampler, startTrainer }: Machines, ids: IdSource, modelId: string): LoadedModel {
  const sampler = makeServedSampler(startSampler, async () => {
    const { head } = store.find(modelId)
    const { weights } = await store.readState(modelId, head)
    return { weights, version: toVersion(head) }
  })
  const session = makeTrainingSession({ modelId, store, startTrainer, publish: sampler.publish, ids })
  return {
    ...session,
    ready: sampler.ready,
    sample: sampler.sample,
    async close() {
      await Promise.all([session.close(), sampler.close()])
    },
  }
}

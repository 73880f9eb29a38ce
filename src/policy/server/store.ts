import type { Clock } from '../../clock.ts'
import type { IdSource } from '../../ids.ts'
import type { TrainingState } from '../policy.ts'
import { copyWeights } from '../weights.ts'
import { type CheckpointCodec, decodeBlob, digestWeights, encodeBlob } from './blob-codec.ts'
import type { Blobs } from './blobs.ts'
import { checkpointForgotten, modelExists, storeDamaged, unknownCheckpoint, unknownModel } from './errors.ts'
import type { Trajectory } from './minibatches.ts'
import type { AccumulatedRecord, CheckpointRecord, ModelRecord, StoreIndex } from './records.ts'
import { namedBlobs, openIndex, writeIndex } from './store-index.ts'
import { toUuid } from './uuid.ts'

export interface StoreOptions {
  readonly blobs: Blobs
  readonly base: TrainingState
  /** Identifies the tokenizer that the base was trained with. */
  readonly tokenizer: string
  readonly checkpoints: CheckpointCodec
  /** The model that `first` is: one that is there, or in a new store the base's own. Default the base's own. */
  readonly name?: string
  /** What the base's own is called in a new store where `name` says nothing. */
  readonly newName: string
  readonly clock: Clock
  readonly ids: IdSource
  /** Checkpoints whose weights are kept for each model, beside heads and what was forked from. Default all. */
  readonly keep?: number
}

/**
 * Models, their trees of checkpoints, and what is accumulated for each. A change is either made and durable, or not made; the
 * index is written last, so that a crash in between leaves blobs that nobody names and that the next start removes.
 */
export interface Store {
  models(): readonly ModelRecord[]
  /** The model that the options name, else the base's own. */
  first(): ModelRecord
  /** By id or name. Throws `unknown-model`. */
  find(idOrName: string): ModelRecord
  /** What training goes on from at that checkpoint, null for the model's base; memory of the caller's own. */
  readState(modelId: string, checkpointId: string | null): Promise<TrainingState>
  /** The new head; what was accumulated is used up. */
  addCheckpoint(
    modelId: string,
    made: Omit<CheckpointRecord, 'id' | 'parent' | 'createdAt' | 'step' | 'blob'>,
    state: TrainingState,
  ): Promise<CheckpointRecord>
  /** Drops what was accumulated. Throws `unknown-checkpoint` or `checkpoint-forgotten`. */
  setHead(modelId: string, checkpointId: string | null): Promise<ModelRecord>
  /** `gradient` replaces the one there was, `kept` is added to what is kept. */
  accumulate(
    modelId: string,
    record: Omit<AccumulatedRecord, 'gradient' | 'kept'>,
    data: { readonly gradient?: TrainingState['weights']; readonly kept?: readonly Trajectory[] },
  ): Promise<void>
  readGradient(modelId: string): Promise<TrainingState['weights'] | undefined>
  readKept(modelId: string): Promise<readonly Trajectory[]>
  /** Throws `model-exists`, `unknown-checkpoint` or `checkpoint-forgotten`. */
  fork(modelId: string, name: string, checkpointId: string | null): Promise<ModelRecord>
  close(): Promise<void>
}

/** Owns `blobs` from here on, whatever happens. Throws `wrong-tokenizer`, `other-base`, `unknown-model` or `checkpoint-damaged`. */
export async function openStore(options: StoreOptions): Promise<Store> {
  try {
    return await openOn(options)
  } catch (error) {
    await options.blobs.close()
    throw error
  }
}

async function openOn(options: StoreOptions): Promise<Store> {
  const { blobs, base, checkpoints, clock, ids, keep = Number.POSITIVE_INFINITY } = options
  const newModel = (name: string, origin: ModelRecord['origin']): ModelRecord => ({
    id: toUuid(ids.hex(16)),
    name,
    createdAt: clock.wallTime(),
    origin,
    head: null,
    checkpoints: [],
    accumulated: null,
  })
  const identity = { tokenizer: options.tokenizer, base: digestWeights(base.weights) }
  let index = await openIndex(blobs, identity, () => newModel(options.name ?? options.newName, null))
  let commits: Promise<unknown> = Promise.resolve()

  /** `change` sees the index as the commits before it left it. */
  function commit<Value>(change: (now: StoreIndex) => [StoreIndex, Value]): Promise<Value> {
    const done = commits.then(async () => {
      const [next, value] = change(index)
      const trimmed = forgetOld(next, keep)
      await writeIndex(blobs, trimmed)
      const before = namedBlobs(index)
      index = trimmed
      const after = namedBlobs(index)
      // What stays behind here is removed at the next start.
      await Promise.allSettled([...before].filter(name => !after.has(name)).map(name => blobs.remove(name)))
      return value
    })
    commits = done.catch(() => {}) // Its caller has the error.
    return done
  }

  function find(idOrName: string): ModelRecord {
    const found = index.models.find(({ id, name }) => id === idOrName || name === idOrName)
    if (found === undefined)
      throw unknownModel(
        idOrName,
        index.models.map(({ name }) => name),
      )
    return found
  }

  async function readBlob(name: string): Promise<Uint8Array> {
    const bytes = await blobs.get(name)
    if (bytes === undefined) throw storeDamaged(`${blobs.location}/${name}`)
    return bytes
  }

  async function readState(modelId: string, checkpointId: string | null): Promise<TrainingState> {
    const model = find(modelId)
    if (checkpointId !== null) {
      const { blob } = requireKept(model, checkpointId, keep)
      return checkpoints.decode(await readBlob(blob), `${blobs.location}/${blob}`)
    }
    if (model.origin !== null) return await readState(model.origin.model, model.origin.checkpoint)
    const { weights, first, second, step } = base
    return { weights: copyWeights(weights), first: copyWeights(first), second: copyWeights(second), step }
  }

  const [first] = index.models
  if (first === undefined) throw storeDamaged(blobs.location)
  const { id: firstId } = options.name === undefined ? first : find(options.name)
  return {
    models: () => index.models,
    first: () => find(firstId),
    find,
    readState,
    async addCheckpoint(modelId, made, { weights, first, second, step }) {
      const id = toUuid(ids.hex(16))
      const blob = `checkpoint-${id}.policy`
      await blobs.put(blob, checkpoints.encode({ weights, first, second, step }))
      return await commit(now => {
        const model = find(modelId)
        const parent = model.checkpoints.find(each => each.id === model.head)
        const record = {
          ...made,
          id,
          parent: model.head,
          createdAt: clock.wallTime(),
          step: (parent?.step ?? 0) + 1,
          blob,
        }
        const changed = { ...model, head: id, checkpoints: [...model.checkpoints, record], accumulated: null }
        return [withModel(now, changed), record]
      })
    },
    setHead: (modelId, checkpointId) =>
      commit(now => {
        const model = find(modelId)
        if (checkpointId !== null) requireKept(model, checkpointId, keep)
        const changed = { ...model, head: checkpointId, accumulated: null }
        return [withModel(now, changed), changed]
      }),
    async accumulate(modelId, record, { gradient, kept }) {
      const gradientBlob = gradient && `gradient-${ids.hex(8)}.bin`
      const keptBlob = kept && `kept-${ids.hex(8)}.bin`
      if (gradient && gradientBlob) await blobs.put(gradientBlob, encodeBlob('gradient', gradient))
      if (kept && keptBlob) await blobs.put(keptBlob, encodeBlob('kept', kept))
      await commit(now => {
        const model = find(modelId)
        const accumulated = {
          ...record,
          gradient: gradientBlob ?? model.accumulated?.gradient ?? null,
          kept: [...(model.accumulated?.kept ?? []), ...(keptBlob ? [keptBlob] : [])],
        }
        return [withModel(now, { ...model, accumulated }), undefined]
      })
    },
    async readGradient(modelId) {
      const name = find(modelId).accumulated?.gradient
      return name == null ? undefined : decodeBlob('gradient', await readBlob(name), name)
    },
    async readKept(modelId) {
      const names = find(modelId).accumulated?.kept ?? []
      const calls = await Promise.all(names.map(async name => decodeBlob('kept', await readBlob(name), name)))
      return calls.flat()
    },
    fork: (modelId, name, checkpointId) =>
      commit(now => {
        const model = find(modelId)
        if (now.models.some(each => each.name === name || each.id === name)) throw modelExists(name)
        if (checkpointId !== null) requireKept(model, checkpointId, keep)
        const made = newModel(name, { model: model.id, checkpoint: checkpointId })
        return [{ ...now, models: [...now.models, made] }, made]
      }),
    async close() {
      await commits
      await blobs.close()
    },
  }
}

function requireKept({ name, checkpoints }: ModelRecord, id: string, keep: number): { readonly blob: string } {
  const found = checkpoints.find(each => each.id === id)
  if (found === undefined) throw unknownCheckpoint(id, name)
  if (found.blob === null) throw checkpointForgotten(id, keep)
  return { blob: found.blob }
}

function withModel(index: StoreIndex, changed: ModelRecord): StoreIndex {
  return { ...index, models: index.models.map(model => (model.id === changed.id ? changed : model)) }
}

function forgetOld(index: StoreIndex, keep: number): StoreIndex {
  if (!Number.isFinite(keep)) return index
  const needed = new Set(index.models.flatMap(({ head, origin }) => [head, origin?.checkpoint ?? null]))
  return {
    ...index,
    models: index.models.map(model => ({
      ...model,
      checkpoints: model.checkpoints.map((each, place) =>
        place >= model.checkpoints.length - keep || needed.has(each.id) ? each : { ...each, blob: null },
      ),
    })),
  }
}

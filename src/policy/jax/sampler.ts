/**
 * Samples in the calling thread: a fixed number of slots take one token further at a time (continuous batching, Yu et al. 2022,
 * Orca). Sequences leave at any token and join at the start of a chunk of steps. Everything that a sequence's bits could depend on is
 * its own: one compiled shape, its place in the chunk, its random numbers.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Embedder, makeEmbedder } from '../embed.ts'
import { notLoaded, policyClosed, samplerFull, samplingCancelled } from '../errors.ts'
import type { ModelShape, SampleRequest, SampleResult, Sampler, Weights } from '../policy.ts'
import { checkShape, checkWeights } from '../weights.ts'
import { makeDecoder, makePrefill } from './decode.ts'
import { type KvCache, makeKvCache } from './kv-cache.ts'
import { dispose, loadJax, type Tensors, toTensors } from './library.ts'
import { HIDDEN } from './model.ts'
import { makePrefixes, type Prefixes } from './prefixes.ts'
import { makeSequence, type Sequence } from './sequence.ts'

export interface SamplerOptions {
  /** Sequences under way at most; every step computes all slots. More than 32 were hardly faster together, and slower alone. */
  readonly slots?: number
  /** Steps between which no sequence joins. */
  readonly chunk?: number
  /** Prompts that are computed together. */
  readonly prefillBatch?: number
  /** Computed prompts that are kept for the next that ask for them. */
  readonly keptPrompts?: number
  /** Requests that may wait for a slot; more are rejected with `sampler-full`. */
  readonly maxWaiting?: number
}

interface Loaded {
  readonly parameters: Tensors
  readonly embedder: Embedder
  readonly version: string
  readonly prefixes: Prefixes
}

/** A sampler that works in the thread that calls it; between steps the event loop turns. */
export async function makeJaxSampler(shape: ModelShape, options: SamplerOptions = {}): Promise<Sampler> {
  const { slots = 32, chunk = 8, prefillBatch = 8, keptPrompts = 256, maxWaiting = 4096 } = options
  checkShape(shape)
  const jax = await loadJax()
  const prefill = makePrefill(jax, shape, prefillBatch)
  const decoder = makeDecoder(jax, shape, slots, chunk)
  const cache: KvCache = makeKvCache(shape, slots, HIDDEN)
  const inSlots: (Sequence | undefined)[] = Array.from({ length: slots })
  let waiting: Sequence[] = []
  let loaded: Loaded | undefined
  const swaps: (() => void)[] = []
  let running = Promise.resolve()
  let isRunning = false
  let closed = false

  const active = () => inSlots.flatMap(sequence => (sequence === undefined ? [] : [sequence]))

  function forget(sequence: Sequence): void {
    const slot = inSlots.indexOf(sequence)
    if (slot >= 0) inSlots[slot] = undefined
    else waiting = waiting.filter(each => each !== sequence)
  }

  function wake(): void {
    if (isRunning) return
    isRunning = true
    running = run()
  }

  async function run(): Promise<void> {
    try {
      // What is asked for in one turn of the event loop begins together.
      await nextTurn()
      for (;;) {
        for (const swap of swaps.splice(0)) swap()
        if (closed || loaded === undefined || waiting.length + active().length === 0) return
        await admit(loaded)
        await runChunk(loaded)
      }
    } catch (error) {
      for (const sequence of [...active(), ...waiting]) sequence.fail(error)
    } finally {
      // In the same turn in which there was nothing left to do: a request that comes later finds it so.
      isRunning = false
    }
  }

  async function admit({ prefixes }: Loaded): Promise<void> {
    const free = [...inSlots.keys()].filter(slot => inSlots[slot] === undefined)
    const joining = waiting.splice(0, free.length)
    for (const [i, sequence] of joining.entries()) inSlots[free[i] ?? 0] = sequence
    const prompts = joining.map(({ prompt }) => prompt.subarray(0, -1))
    for (const [i, prefix] of (await prefixes.find(prompts)).entries())
      cache.place(free[i] ?? 0, prefix, prompts[i]?.length ?? 0)
  }

  async function runChunk({ parameters, embedder, version }: Loaded): Promise<void> {
    const steps = decoder.begin(parameters, cache)
    let count = 0
    for (; count < chunk && active().length > 0 && swaps.length === 0 && !closed; count += 1) {
      const embedded = new Float32Array(slots * shape.width)
      const stepping = [...inSlots]
      for (const [slot, sequence] of stepping.entries()) {
        if (sequence === undefined) continue
        const { token, position } = sequence.next()
        embedder.write(token, position, embedded, slot)
      }
      const logits = await steps.step(embedded)
      for (const [slot, sequence] of stepping.entries())
        if (sequence !== undefined && !sequence.ended)
          sequence.take(logits.subarray(slot * shape.vocabulary, (slot + 1) * shape.vocabulary), version)
      await nextTurn()
    }
    const recent = await steps.end()
    for (const [slot, sequence] of inSlots.entries())
      if (sequence !== undefined) cache.append(slot, recent, chunk, count)
  }

  function swap(weights: Weights, version: string): void {
    if (loaded !== undefined) dispose(loaded.parameters)
    const machine = { parameters: toTensors(jax, weights), embedder: makeEmbedder(shape, weights) }
    const prefixes = makePrefixes(prefill, machine, { batch: prefillBatch, kept: keptPrompts })
    loaded = { ...machine, version, prefixes }
    const anew = active()
    for (const sequence of anew) sequence.restart()
    inSlots.fill(undefined)
    waiting = [...anew, ...waiting]
  }

  return {
    async load(weights, version) {
      if (closed) throw policyClosed('sampler')
      checkWeights(shape, weights)
      await new Promise<void>((resolve, reject) => {
        swaps.push(() => {
          try {
            swap(weights, version)
            resolve()
          } catch (error) {
            reject(error)
          }
        })
        wake()
      })
    },
    sample(request: SampleRequest, signal?: AbortSignal) {
      return new Promise<SampleResult>((resolve, reject) => {
        if (closed) throw policyClosed('sampler')
        if (loaded === undefined && swaps.length === 0) throw notLoaded('sampler')
        if (signal?.aborted) throw samplingCancelled()
        if (waiting.length >= maxWaiting) throw samplerFull(maxWaiting)
        waiting.push(makeSequence(request, shape, { resolve, reject, onEnd: forget }, signal))
        wake()
      })
    },
    async close() {
      closed = true
      await running
      for (const swapNow of swaps.splice(0)) swapNow()
      for (const sequence of [...active(), ...waiting]) sequence.fail(policyClosed('sampler'))
      if (loaded !== undefined) dispose(loaded.parameters)
      loaded = undefined
    },
  }
}

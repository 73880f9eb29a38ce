/** The two compiled halves of sampling: prompts to keys and values, and one token further for all slots at once. */
import type { Embedder } from '../embed.ts'
import type { ModelShape } from '../policy.ts'
import type { KvCache, Prefix } from './kv-cache.ts'
import { floats, type Jax, readFloats, type Tensor, type Tensors } from './library.ts'
import { blocksOf, causalMask, finishBlock, HIDDEN, keysAndValues, logits, project, scale } from './model.ts'

/** Prefixes for up to `batch` token sequences, each of at most the context's length. */
export type Prefill = (
  parameters: Tensors,
  embedder: Embedder,
  prompts: readonly Uint32Array[],
) => Promise<readonly Prefix[]>

export function makePrefill(jax: Jax, shape: ModelShape, batch: number): Prefill {
  const { context: length, width } = shape
  const run = jax.jit((p: Tensors, embedded: Tensor, mask: Tensor) =>
    keysAndValues(jax, shape, p, { embedded, mask, rows: batch, length }),
  )
  const mask = floats(jax, causalMask(length), 1, 1, length, length)
  return async (parameters, embedder, prompts) => {
    const embedded = new Float32Array(batch * length * width)
    for (const [row, prompt] of prompts.entries())
      for (const [t, token] of prompt.entries()) embedder.write(token, t, embedded, row * length + t)
    const found = run(jax.tree.ref(parameters), floats(jax, embedded, batch * length, width), mask.ref)
    const all: Float32Array[] = []
    for (const tensor of found) all.push(await readFloats(tensor))
    return prompts.map((prompt, row) =>
      all.map(values => values.slice(row * length * width, (row * length + prompt.length) * width)),
    )
  }
}

/** What a chunk of steps runs on; the cache's contents stand still until its end. */
export interface Chunk {
  /** One step: each slot's embedded token, [slots, width], to the logits of its next, [slots, vocabulary]. */
  step(embedded: Float32Array): Promise<Float32Array>
  /** Ends the chunk: the keys and values of its steps, as `KvCache.append` takes them. */
  end(): Promise<Float32Array[]>
}

export interface Decoder {
  readonly slots: number
  /** Steps in a chunk at most. */
  readonly chunk: number
  begin(parameters: Tensors, cache: KvCache): Chunk
}

export function makeDecoder(jax: Jax, shape: ModelShape, slots: number, chunk: number): Decoder {
  const { heads, context, width, layers } = shape
  const part = width / heads
  const run = compileStep(jax, shape, slots, chunk)
  const blank = floats(jax, new Float32Array(slots * width * chunk), slots, heads, chunk, part)
  return {
    slots,
    chunk,
    begin(parameters, cache) {
      const past = cache.past.map(values => floats(jax, values, slots, heads, context, part))
      const mask = floats(jax, cache.mask, slots, 1, 1, context)
      let recent = Array.from({ length: 2 * layers }, () => blank.ref)
      let steps = 0
      return {
        async step(embedded) {
          const here = new Float32Array(chunk)
          here[steps] = 1
          const seen = new Float32Array(chunk).fill(HIDDEN).fill(0, 0, steps + 1)
          steps += 1
          const [found, next] = run(
            jax.tree.ref(parameters),
            jax.tree.ref(past),
            recent,
            floats(jax, embedded, slots, width),
            mask.ref,
            floats(jax, here, 1, 1, chunk, 1),
            floats(jax, seen, 1, 1, 1, chunk),
          )
          recent = next
          return readFloats(found)
        },
        async end() {
          const found: Float32Array[] = []
          for (const tensor of recent) found.push(await readFloats(tensor))
          for (const tensor of [...past, mask]) tensor.dispose()
          return found
        },
      }
    },
  }
}

/** Scores against the past and against the chunk's own steps go through one softmax. */
function compileStep(jax: Jax, shape: ModelShape, slots: number, chunk: number) {
  const { numpy: np, nn, jit } = jax
  const { heads, context, width } = shape
  const part = width / heads
  return jit(
    (
      p: Tensors,
      past: Tensor[],
      recent: Tensor[],
      embedded: Tensor,
      mask: Tensor,
      here: Tensor,
      seen: Tensor,
    ): [Tensor, Tensor[]] => {
      const next: Tensor[] = []
      let x = embedded
      for (const [i, block] of blocksOf(shape).entries()) {
        const [q, k, v] = project(jax, shape, p, block, x.ref).map(each => each.reshape([slots, heads, 1, part])) as [
          Tensor,
          Tensor,
          Tensor,
        ]
        const write = (value: Tensor, old: Tensor) => np.where(here.ref.greater(0.5), value, old)
        const keys = write(k, at(recent, 2 * i))
        const values = write(v, at(recent, 2 * i + 1))
        const score = (against: Tensor, hide: Tensor) =>
          np
            .matmul(q.ref, against.transpose([0, 1, 3, 2]))
            .mul(scale(shape))
            .add(hide)
        const scores = np.concatenate([score(at(past, 2 * i), mask.ref), score(keys.ref, seen.ref)], -1)
        q.dispose()
        const shares = nn.softmax(scores, -1)
        const old = np.matmul(shares.ref.slice([], [], [], [0, context]), at(past, 2 * i + 1))
        const own = np.matmul(shares.slice([], [], [], [context, context + chunk]), values.ref)
        next.push(keys, values)
        x = finishBlock(jax, p, block, x, old.add(own).reshape([slots, width]))
      }
      for (const each of [mask, here, seen]) each.dispose()
      return [logits(jax, p, x), next]
    },
  )
}

function at(tensors: readonly Tensor[], i: number): Tensor {
  const found = tensors[i]
  if (found === undefined) throw new Error(`there is no tensor ${i}`)
  return found
}

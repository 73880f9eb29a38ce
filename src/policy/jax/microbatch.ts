/** One call of the compiled gradient: a fixed number of bins of a fixed length, filled up with padding. */
import { addEmbeddingSlope, type Embedder } from '../embed.ts'
import { COEFFICIENTS } from '../merge-rows.ts'
import type { Bin, Segment } from '../pack-rows.ts'
import type { ModelShape, Weights } from '../policy.ts'
import { floats, integers, type Jax, readFloats, type Tensor, type Tensors } from './library.ts'
import { HIDDEN, logits, runSequences } from './model.ts'

/** More than this, as a ratio's logarithm, would leave float32; a loss that gets there is told as not finite. */
const LARGEST_LOG_RATIO = 88

/** The extents that a gradient is compiled for. */
export interface Extents {
  readonly bins: number
  /** Positions of a bin. */
  readonly length: number
}

export interface MicrobatchPorts {
  readonly parameters: Tensors
  readonly embedder: Embedder
  readonly bounds: { readonly low: number; readonly high: number }
  /** What the gradient is added to, if it is wanted. */
  readonly sum?: Weights
}

/** Runs at most `extents.bins` bins; returns the log-probabilities of every row's output by the row's index. */
export type GradientMachine = (bins: readonly Bin[], ports: MicrobatchPorts) => Promise<Map<number, Float32Array>>

/** Compiles at its first run, which takes seconds. */
export function makeGradientMachine(jax: Jax, shape: ModelShape, extents: Extents): GradientMachine {
  const { length } = extents
  const count = extents.bins * length
  const gradient = compileGradient(jax, shape, extents)
  return async (bins, { parameters, embedder, bounds, sum }) => {
    const filled = fill(bins, shape, extents, embedder)
    const [logprobs, slopes, embeddingSlopes] = gradient(
      jax.tree.ref(parameters),
      floats(jax, filled.embedded, count, shape.width),
      floats(jax, filled.mask, extents.bins, 1, length, length),
      integers(jax, filled.targets, count),
      floats(jax, filled.sampled, count),
      floats(jax, filled.coefficients, COEFFICIENTS.length, count),
      floats(jax, Float32Array.of(bounds.low, bounds.high), 2),
    )
    const all = await readFloats(logprobs)
    const embedded = await readFloats(embeddingSlopes)
    for (const [name, tensor] of Object.entries(slopes)) {
      const values = await readFloats(tensor)
      if (sum !== undefined) addTo(sum[name]?.values, values)
    }
    if (sum !== undefined)
      eachToken(bins, length, (at, token, position) => {
        addEmbeddingSlope(shape, sum, { token, position }, embedded, at)
      })
    const found = new Map<number, Float32Array>()
    eachSegment(bins, length, ({ row, index }, at) => found.set(index, all.slice(at, at + row.sampled.length)))
    return found
  }
}

/** Log-probabilities of the targets, and the loss's slope for every parameter and for what was embedded. */
function compileGradient(jax: Jax, shape: ModelShape, { bins, length }: Extents) {
  const { numpy: np, nn, lax, jit, valueAndGrad } = jax
  const surrogate = (
    p: Tensors,
    embedded: Tensor,
    mask: Tensor,
    targets: Tensor,
    sampled: Tensor,
    coefficients: Tensor,
    bounds: Tensor,
  ): [Tensor, Tensor] => {
    const found = logits(jax, p, runSequences(jax, shape, p, { embedded, mask, rows: bins, length }))
    const all = nn.logSoftmax(lax.stopGradient(found.ref), -1)
    const wanted = nn.oneHot(targets, shape.vocabulary)
    const logprobs = np.sum(all.ref.mul(wanted.ref), -1)
    const slope = slopeOf(jax, logprobs.ref.sub(sampled), coefficients, bounds)
    // The slope of log-softmax is known: what is left to differentiate is linear in the logits.
    const pulls = np
      .exp(all)
      .sub(wanted)
      .mul(slope.reshape([bins * length, 1]))
    return [np.sum(lax.stopGradient(pulls).mul(found)), logprobs]
  }
  const differentiate = valueAndGrad(surrogate, { argnums: [0, 1], hasAux: true })
  return jit((...inputs: Parameters<typeof surrogate>): [Tensor, Tensors, Tensor] => {
    const [[loss, logprobs], [slopes, embeddingSlopes]] = differentiate(...inputs)
    loss.dispose()
    return [logprobs, slopes, embeddingSlopes]
  })
}

/** The formula of `Coefficients`, with `change` for l − o. */
function slopeOf({ numpy: np }: Jax, change: Tensor, coefficients: Tensor, bounds: Tensor): Tensor {
  const part = (i: number) => coefficients.ref.slice(i)
  const [up, down, held, plain, pull] = [part(0), part(1), part(2), part(3), part(4)]
  coefficients.dispose()
  const [low, high] = [bounds.ref.slice(0), bounds.slice(1)]
  const ratio = np.exp(np.minimum(change.ref, LARGEST_LOG_RATIO))
  const free = np
    .where(ratio.ref.lessEqual(high.ref), up, 0)
    .add(np.where(ratio.ref.greaterEqual(low.ref), down, 0))
    .mul(ratio.ref)
  return free
    .add(np.clip(ratio, low, high).mul(held))
    .add(plain)
    .sub(pull.mul(change))
}

function fill(bins: readonly Bin[], shape: ModelShape, extents: Extents, embedder: Embedder) {
  const { length } = extents
  const count = extents.bins * length
  const embedded = new Float32Array(count * shape.width)
  const mask = new Float32Array(count * length).fill(HIDDEN)
  const targets = new Int32Array(count)
  const sampled = new Float32Array(count)
  const coefficients = new Float32Array(COEFFICIENTS.length * count)
  eachToken(bins, length, (at, token, position, seen) => {
    embedder.write(token, position, embedded, at)
    for (const [from, to] of seen) mask.fill(0, at * length + from, at * length + to)
  })
  eachSegment(bins, length, ({ row }, at) => {
    targets.set(row.tokens.subarray(row.promptLength), at)
    sampled.set(row.sampled, at)
    for (const [i, sums] of row.coefficients.entries()) coefficients.set(sums, i * count + at)
  })
  return { embedded, mask, targets, sampled, coefficients }
}

type Span = readonly [from: number, to: number]

/** Every token: where it stands among all bins, its position in its own sequence, and the spans of its bin that it sees. */
function eachToken(
  bins: readonly Bin[],
  length: number,
  visit: (at: number, token: number, position: number, seen: readonly Span[]) => void,
): void {
  for (const [bin, blocks] of bins.entries())
    for (const { prefix, start, segments } of blocks) {
      for (const [t, token] of prefix.entries()) visit(bin * length + start + t, token, t, [[start, start + t + 1]])
      for (const { row, start: first } of segments)
        for (let t = 0; t < row.sampled.length; t += 1) {
          const position = prefix.length + t
          visit(bin * length + first + t, row.tokens[position] ?? 0, position, [
            [start, start + prefix.length],
            [first, first + t + 1],
          ])
        }
    }
}

function eachSegment(bins: readonly Bin[], length: number, visit: (segment: Segment, at: number) => void): void {
  for (const [bin, blocks] of bins.entries())
    for (const { segments } of blocks) for (const segment of segments) visit(segment, bin * length + segment.start)
}

function addTo(sum: Float32Array | undefined, added: Float32Array): void {
  if (sum === undefined) return
  for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (added[i] ?? 0)
}

/**
 * The forward pass, as it is traced by the library's compiler. Blocks are pre-norm (Xiong et al. 2020, arXiv 2002.04745) with
 * causal attention (Vaswani et al. 2017, arXiv 1706.03762) and a ReLU network; positions are learned.
 */
import type { ModelShape } from '../policy.ts'
import type { Jax, Tensor, Tensors } from './library.ts'

/** Added to the scores of keys that must not be seen: their share in a softmax is exactly 0. */
export const HIDDEN = -1e9
const VARIANCE_FLOOR = 1e-5

/** One block's queries, keys and values from x [n, width], each [n, width]. */
export function project(
  jax: Jax,
  { width }: ModelShape,
  p: Tensors,
  block: string,
  x: Tensor,
): [Tensor, Tensor, Tensor] {
  const all = jax.numpy.matmul(
    normalise(jax, x, use(p, `${block}.attention.gain`), use(p, `${block}.attention.bias`)),
    use(p, `${block}.attention.input`),
  )
  const part = (i: number, of: Tensor) => of.slice([], [i * width, (i + 1) * width])
  return [part(0, all.ref), part(1, all.ref), part(2, all)]
}

/** A block's second half: x and the attention's result, both [n, width], to the block's output. */
export function finishBlock(jax: Jax, p: Tensors, block: string, x: Tensor, attended: Tensor): Tensor {
  const { numpy: np, nn } = jax
  const middle = x.add(np.matmul(attended, use(p, `${block}.attention.output`)))
  const normal = normalise(jax, middle.ref, use(p, `${block}.inner.gain`), use(p, `${block}.inner.bias`))
  const inner = nn.relu(np.matmul(normal, use(p, `${block}.inner.input`)).add(use(p, `${block}.inner.inputBias`)))
  return middle.add(np.matmul(inner, use(p, `${block}.inner.output`)).add(use(p, `${block}.inner.outputBias`)))
}

/** Logits of the next token, [n, vocabulary], from x [n, width]. */
export function logits(jax: Jax, p: Tensors, x: Tensor): Tensor {
  return jax.numpy.matmul(normalise(jax, x, use(p, 'gain'), use(p, 'bias')), use(p, 'head'))
}

/** Whole sequences side by side: what their tokens are embedded as, [rows × length, width], and what each position may see. */
export interface Sequences {
  readonly embedded: Tensor
  /** Added to scores [rows, heads, length, length]. */
  readonly mask: Tensor
  readonly rows: number
  readonly length: number
}

/** The last hidden state of every position, [rows × length, width]. */
export function runSequences(jax: Jax, shape: ModelShape, p: Tensors, input: Sequences): Tensor {
  let x = input.embedded
  for (const block of blocksOf(shape)) {
    const projected = project(jax, shape, p, block, x.ref)
    x = finishBlock(jax, p, block, x, attend(jax, shape, projected, input))
  }
  input.mask.dispose()
  return x
}

/** Keys and values of every position, block after block, each [rows × length, width]. */
export function keysAndValues(jax: Jax, shape: ModelShape, p: Tensors, input: Sequences): Tensor[] {
  let x = input.embedded
  const found: Tensor[] = []
  const blocks = blocksOf(shape)
  for (const block of blocks) {
    const [q, k, v] = project(jax, shape, p, block, x.ref)
    found.push(k.ref, v.ref)
    // What comes after the last block's keys is not needed.
    if (block === blocks.at(-1)) for (const each of [q, k, v, x]) each.dispose()
    else x = finishBlock(jax, p, block, x, attend(jax, shape, [q, k, v], input))
  }
  input.mask.dispose()
  return found
}

export function blocksOf({ layers }: ModelShape): string[] {
  return Array.from({ length: layers }, (_, layer) => `block${layer}`)
}

/** The factor on attention's scores. */
export function scale({ width, heads }: ModelShape): number {
  return 1 / Math.sqrt(width / heads)
}

/** A mask [1, 1, length, length] that lets each position see itself and what is before it. */
export function causalMask(length: number): Float32Array {
  const mask = new Float32Array(length * length)
  for (let i = 0; i < length; i += 1) mask.fill(HIDDEN, i * length + i + 1, (i + 1) * length)
  return mask
}

/** A parameter by its name. Within one trace each is used once, as its use takes it over. */
function use(p: Tensors, name: string): Tensor {
  const found = p[name]
  if (found === undefined) throw new Error(`the model has no parameter ${name}`)
  return found
}

function normalise({ numpy: np }: Jax, x: Tensor, gain: Tensor, bias: Tensor): Tensor {
  const centred = x.ref.sub(np.mean(x, -1, { keepdims: true }))
  const variance = np.mean(centred.ref.mul(centred.ref), -1, { keepdims: true })
  return centred
    .div(np.sqrt(variance.add(VARIANCE_FLOOR)))
    .mul(gain)
    .add(bias)
}

function attend(jax: Jax, shape: ModelShape, [q, k, v]: [Tensor, Tensor, Tensor], input: Sequences): Tensor {
  const { numpy: np, nn } = jax
  const { rows, length, mask } = input
  const { width, heads } = shape
  const split = (each: Tensor) => each.reshape([rows, length, heads, width / heads]).transpose([0, 2, 1, 3])
  const scores = np
    .matmul(split(q), split(k).transpose([0, 1, 3, 2]))
    .mul(scale(shape))
    .add(mask.ref)
  return np
    .matmul(nn.softmax(scores, -1), split(v))
    .transpose([0, 2, 1, 3])
    .reshape([rows * length, width])
}

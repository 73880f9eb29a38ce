import { createHash } from 'node:crypto'
import { makeRandom, shuffle } from '../../random.ts'
import type { Datum } from '../policy.ts'

/** The data of one trajectory, which stay together. */
export type Trajectory = readonly Datum[]

/**
 * The minibatches of one optim-step: `epochs` passes over all trajectories, each pass in an order of its own and cut into `count` parts as
 * equal as can be; parts that would be empty are left out. Depends on the seed and on what the trajectories hold, and not on
 * the order in which they came: a batch that was cut into other chunks gives the same minibatches.
 */
export function toMinibatches(
  trajectories: readonly Trajectory[],
  { count, epochs, seed }: { readonly count: number; readonly epochs: number; readonly seed: number },
): Datum[][] {
  const random = makeRandom(seed)
  const ordered = trajectories
    .map(trajectory => ({ trajectory, key: digest(trajectory) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ trajectory }) => trajectory)
  const batches: Datum[][] = []
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    const shuffled = shuffle(ordered, random)
    for (let part = 0; part < count; part += 1) {
      const from = Math.floor((part * shuffled.length) / count)
      const to = Math.floor(((part + 1) * shuffled.length) / count)
      if (to > from) batches.push(shuffled.slice(from, to).flat())
    }
  }
  return batches
}

function digest(trajectory: Trajectory): string {
  const hash = createHash('sha256')
  for (const { prompt, output, logprobs, advantage } of trajectory)
    hash
      .update(Uint32Array.of(prompt.length, output.length))
      .update(prompt)
      .update(output)
      .update(logprobs)
      .update(Float64Array.of(advantage))
  return hash.digest('hex')
}

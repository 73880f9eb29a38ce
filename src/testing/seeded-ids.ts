import type { IdSource } from '../ids.ts'
import { makeRandom } from '../random.ts'

/** Ids that come out the same for the same seed. Anybody can guess them: for tests alone. */
export function seededIds(seed: number): IdSource {
  const random = makeRandom(seed)
  const nextByte = () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0')
  return { hex: bytes => Array.from({ length: bytes }, nextByte).join('') }
}

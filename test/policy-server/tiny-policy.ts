import { join } from 'node:path'
import { writePolicyFile } from '../../src/policy/policy-file.ts'
import { learnTokenizer, makeTokenizer } from '../../src/policy/tokenizer.ts'
import { initWeights } from '../../src/policy/weights.ts'

/** Writes a real policy that has learned nothing, and is as small as one can be. */
export async function writeTinyPolicy(directory: string, { merges = 4, seed = 1 } = {}): Promise<string> {
  const tokenizer = learnTokenizer(['say hello, say hello', 'fine fine'], merges)
  const { vocabulary } = makeTokenizer(tokenizer)
  const shape = { vocabulary, width: 16, heads: 2, layers: 1, context: 48 }
  const path = join(directory, `tiny-${merges}-${seed}.policy`)
  await writePolicyFile(path, { name: 'tiny', shape, tokenizer, made: {}, weights: initWeights(shape, seed) })
  return path
}

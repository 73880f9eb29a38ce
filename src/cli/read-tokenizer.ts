import type { Tokenizer } from '../policy/tokenizer.ts'
import { nameTrainer } from '../training/defaults.ts'
import type { ModelArguments } from './model-options.ts'
import { findBase } from './open-model.ts'

/** Of the policy that a training starts from; undefined where it is none of ours. For looking at: never rejects. */
export async function readBaseTokenizer(
  tasks: string,
  { trainer, base }: Pick<ModelArguments, 'trainer' | 'base'>,
): Promise<Tokenizer | undefined> {
  if (nameTrainer(trainer) !== 'embedded') return undefined
  try {
    return await readTokenizer(findBase(tasks, base))
  } catch {
    // Tokens are shown without their texts then; the training itself says what is wrong with its base.
    return undefined
  }
}

/** Read once for each file. Rejects with `policy-unreadable`. */
export function readTokenizer(file: string): Promise<Tokenizer> {
  const reading = known.get(file) ?? read(file)
  known.set(file, reading)
  reading.catch(() => known.delete(file))
  return reading
}

/** A command knows one or two. */
const known = new Map<string, Promise<Tokenizer>>()

async function read(file: string): Promise<Tokenizer> {
  const { readPolicyFile } = await import('../policy/policy-file.ts')
  const { makeTokenizer } = await import('../policy/tokenizer.ts')
  return makeTokenizer((await readPolicyFile(file)).tokenizer)
}

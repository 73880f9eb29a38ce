import type { PolicyContents } from '../policy/policy-contents.ts'
import { readPolicyFile } from '../policy/policy-file.ts'
import { makeTokenizer } from '../policy/tokenizer.ts'
import type { Cli } from './cli.ts'
import type { PolicyShowArguments } from './commands/policy.ts'

/** `troupe policy show`. Rejects with `policy-unreadable`. */
export async function showPolicy(path: string, options: PolicyShowArguments, { console }: Cli): Promise<void> {
  const facts = toFacts(await readPolicyFile(path))
  await console.print(options.json === true ? JSON.stringify(facts) : renderFacts(facts))
}

function toFacts({ name, shape, tokenizer, made, weights, training }: PolicyContents) {
  const parameters = Object.values(weights).reduce((sum, { values }) => sum + values.length, 0)
  const { fingerprint } = makeTokenizer(tokenizer)
  return {
    name,
    shape,
    parameters,
    tokenizer: { merges: tokenizer.merges.length, special: tokenizer.special, fingerprint },
    /** Optimiser steps behind it; null for one that has only weights, as a base has. */
    steps: training?.step ?? null,
    made,
  }
}

function renderFacts({ name, shape, parameters, tokenizer, steps, made }: ReturnType<typeof toFacts>): string {
  const { width, heads, layers, context, vocabulary } = shape
  return [
    `${name}: ${parameters.toLocaleString('en')} parameters`,
    `shape: width ${width}, ${heads} heads, ${layers} layers, context ${context}, vocabulary ${vocabulary}`,
    `tokenizer: ${tokenizer.merges} merges, ${tokenizer.special.length} special tokens, fingerprint ${tokenizer.fingerprint.slice(0, 12)}`,
    steps === null ? 'weights alone' : `with what training goes on from, after ${steps} optimiser steps`,
    'made with:',
    JSON.stringify(made, undefined, 2).replaceAll(/^/gm, '  '),
  ].join('\n')
}

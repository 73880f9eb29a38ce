import { createHash } from 'node:crypto'
import { type CalcFunction, functionSource, functions } from './functions.ts'
import { functionOf } from './tests.ts'

/** Names of the functions whose tests pytest's summary lists as failed, each once. */
export function failedFunctions(output: string): string[] {
  const failed = [...output.matchAll(/^(?:FAILED|ERROR) \S+::(test_\w+)/gm)].map(([, test = '']) => functionOf(test))
  return [...new Set(failed)]
}

/**
 * `source` with an edit to each of the `broken` functions: the right one with probability `skill`, otherwise a mistaken one or
 * none. The same seed makes the same edits.
 */
export function repair(source: string, broken: readonly string[], skill: number, seed: number): string {
  return functions
    .filter(({ name }) => broken.includes(name))
    .reduce(
      (text, each) =>
        text.replace(functionSource(each, each.buggy), () => functionSource(each, chooseEdit(each, skill, seed))),
      source,
    )
}

function chooseEdit(each: CalcFunction, skill: number, seed: number): string {
  if (chance(seed, each.name, 'right') < skill) return each.correct
  const others = [...each.mistaken, each.buggy]
  return others[Math.floor(chance(seed, each.name, 'which') * others.length)] ?? each.buggy
}

/** A number in [0, 1) that depends on its arguments only. */
function chance(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE(0) / 2 ** 32
}

import { createHash } from 'node:crypto'
import { type CalcFunction, functionSource, functions } from './functions.ts'
import { functionOf } from './tests.ts'

/** Names of the functions whose tests pytest's summary lists as failed, each once and in the order of the file. */
export function failedFunctions(output: string): string[] {
  const failed = new Set(
    [...output.matchAll(/^(?:FAILED|ERROR) \S+::(test_\w+)/gm)].map(([, test = '']) => functionOf(test)),
  )
  return functions.map(({ name }) => name).filter(name => failed.has(name))
}

/**
 * `source` with one function edited: the right way with probability `skill`, otherwise in a mistaken way or not at all. The same
 * seed makes the same edit. A function that is not there as it was broken is left alone.
 */
export function repairFunction(source: string, name: string, skill: number, seed: number): string {
  const found = functions.find(each => each.name === name)
  if (found === undefined) return source
  return source.replace(functionSource(found, found.buggy), () => functionSource(found, chooseEdit(found, skill, seed)))
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

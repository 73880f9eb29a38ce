import { TroupeError } from '../../src/errors.ts'
import { type LadderArguments, parseLadderOptions } from '../ladder/options.ts'

/** The comparisons, in the order in which they are made. */
export const PARTS = ['kernel', 'plain', 'rollouts', 'sandboxes'] as const
export type Part = (typeof PARTS)[number]

/** What is compared, and how long. */
export interface PeersOptions {
  readonly quick: boolean
  readonly parts: readonly Part[]
  /** How many sandboxes are asked for at once. */
  readonly widths: readonly number[]
  /** How often the sides take turns. */
  readonly repetitions: number
  /** The same from 128 sandboxes at once on, where each turn takes minutes and has as many samples. */
  readonly wideRepetitions: number
  readonly seed: number
}

/** Of the ladder's options, and which parts are wanted. Throws `bench-option` naming the option and what it may be. */
export function parsePeersOptions(given: LadderArguments): PeersOptions {
  const { quick } = given
  const {
    levels: widths,
    repetitions,
    seed,
  } = parseLadderOptions({
    quick,
    levels: given.levels ?? (quick ? '32' : '8,32,128,256'),
    repetitions: given.repetitions ?? (quick ? '1' : '2'),
    seed: given.seed,
  })
  const words = given.parts?.split(',').map(word => word.trim()) ?? PARTS
  const unknown = words.find(word => !PARTS.some(part => part === word))
  if (unknown !== undefined)
    throw new TroupeError({
      tag: 'bench-option',
      message: `--parts ${unknown}: it may be ${PARTS.join(', ')}`,
    })
  const wideRepetitions = given.repetitions === undefined ? 1 : repetitions
  return { quick, parts: PARTS.filter(part => words.includes(part)), widths, repetitions, wideRepetitions, seed }
}

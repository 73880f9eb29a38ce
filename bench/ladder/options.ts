import { TroupeError } from '../../src/errors.ts'
import { STRATEGIES } from '../../src/ladder/level.ts'

const TRANSPORTS = ['auto', 'ssh', 'websocket'] as const

/** What works as the published client did; the strategies are ours. */
export const PUBLISHED = 'published'
export const CLIENTS = [PUBLISHED, ...STRATEGIES] as const

/** What the ladder is to do. */
export interface LadderOptions {
  readonly levels: readonly number[]
  readonly repetitions: number
  readonly strategies: readonly (typeof CLIENTS)[number][]
  readonly transport: (typeof TRANSPORTS)[number]
  readonly seed: number
  /** Where its own receipt goes; none is written when absent. */
  readonly out: string | undefined
}

/** As on the command line, all of it text. */
export interface LadderArguments {
  readonly quick: boolean
  readonly levels?: string | undefined
  readonly repetitions?: string | undefined
  readonly strategies?: string | undefined
  /** Of `peers` and `cluster`: which parts of it. */
  readonly parts?: string | undefined
  readonly transport?: string | undefined
  readonly seed?: string | undefined
  readonly out?: string | undefined
}

const MAX_WIDTH = 1_024
const MAX_REPETITIONS = 20

/** Throws `bench-option` naming the option and what it may be. */
export function parseLadderOptions(given: LadderArguments): LadderOptions {
  const { quick } = given
  return {
    levels: list(given.levels ?? (quick ? '8,32' : '1,8,32,128,256')).map(text => whole('levels', text, 1, MAX_WIDTH)),
    repetitions: whole('repetitions', given.repetitions ?? (quick ? '1' : '3'), 1, MAX_REPETITIONS),
    strategies: list(given.strategies ?? (quick ? 'published,cold,prewarm' : CLIENTS.join(','))).map(text =>
      oneOf('strategies', text, CLIENTS),
    ),
    transport: oneOf('transport', given.transport ?? 'auto', TRANSPORTS),
    seed: whole('seed', given.seed ?? '1', 0, Number.MAX_SAFE_INTEGER),
    out: given.out,
  }
}

const list = (text: string): string[] => [...new Set(text.split(',').map(part => part.trim()))]

function whole(option: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (text === '' || !Number.isInteger(value) || value < least || value > most)
    throw refused(option, text, `a whole number from ${least} to ${most}`)
  return value
}

function oneOf<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find(choice => choice === text)
  if (found === undefined) throw refused(option, text, choices.join(', '))
  return found
}

const refused = (option: string, text: string, may: string): TroupeError =>
  new TroupeError({ tag: 'bench-option', message: `--${option} ${text}: it may be ${may}` })

import type { ErrorData } from '../../errors.ts'
import type { LevelFigures, PoolMoment, Sample } from '../level.ts'

/** Everything of one level that became usable, and what did not. */
export interface Held {
  readonly samples: readonly Sample[]
  readonly failures: readonly ErrorData[]
  /** Resolves when all have been given back, as far as the client can tell. */
  giveBack(): Promise<void>
}

/** One way of getting sandboxes, as a cell's process drives it. */
export interface LadderClient {
  /** Rejects where the cell cannot be held, before anything is made; else makes one sandbox, uncounted. */
  warmUp(): Promise<void>
  /** Resolves when what the cell holds ready really exists. */
  prepare(demand: number): Promise<void>
  /** Asks for all of a level at once; resolves when each is usable or has failed. */
  run(): Promise<Held>
  /** What the pool says of itself now; undefined where there is none. */
  books(): Promise<PoolBooks | undefined>
  /** Sandboxes that exist and that nobody keeps on purpose, once there are none or the client gives up waiting. */
  leaked(): Promise<number>
  /** See `LevelFigures`; since the last call. */
  takeErrors(): LevelFigures['errors']
  close(): Promise<void>
}

export interface PoolBooks {
  /** Ever. */
  readonly created: number
  readonly createFailures: number
  /** Kept on purpose, ready to be used or forked. */
  readonly owned: number
  readonly now: Omit<PoolMoment, 'atMs'>
}

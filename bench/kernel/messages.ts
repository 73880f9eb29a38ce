import type { Question } from '../../src/kernel/ref.ts'

/** The message of all measurements, ours and those we compare with: as small as messages are, so that the way is measured. */
export interface Tick {
  readonly type: 'tick'
  readonly number: number
}

/** Answered with the number of ticks so far. */
export interface HowMany extends Question<number> {
  readonly type: 'how-many'
}

export interface Double extends Question<number> {
  readonly type: 'double'
  readonly value: number
}

export type BenchMessage = Tick | HowMany | Double

export const howMany: HowMany = { type: 'how-many' }

export function tick(number: number): Tick {
  return { type: 'tick', number }
}

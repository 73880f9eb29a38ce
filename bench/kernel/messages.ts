import type { Question } from '../../src/kernel/ref.ts'

/** The message of all measurements, ours and those we compare with: a small report, as actors send them. */
export interface Tick {
  readonly type: 'tick'
  readonly member: number
  readonly phase: string
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

export function tick(member: number): Tick {
  return { type: 'tick', member, phase: 'agent' }
}

import type { Clock } from '../../clock.ts'
import { paceOf } from './pace.ts'
import type { ProgressView } from './view.ts'

/** What is counted where no job runs: levels, steps, rows. */
export interface Counter {
  readonly view: () => ProgressView
  /** One more is done, with what there is to say of how it stands. */
  done(figures?: readonly string[]): void
  /** What is being done now. */
  begin(stage: string): void
}

/** What is to be counted. */
export interface CounterPlan {
  readonly unit: string
  readonly total: number | null
  readonly clock: Clock
  /**
   * From which share of the work on its rate says how long the rest takes. Absent: never.
   */
  readonly tellsFrom?: number
  /** How long the rest takes in milliseconds, where somebody knows better than the rate. */
  readonly leftMs?: () => number | null
}

/** A counter of things that are done one after the other. */
export function makeCounter({ unit, total, clock, tellsFrom, leftMs }: CounterPlan): Counter {
  const startedAt = clock.now()
  let done = 0
  let stage = ''
  let figures: readonly string[] = []
  return {
    done(now = figures) {
      done += 1
      figures = now
    },
    begin(next) {
      stage = next
    },
    view() {
      const isKnown = tellsFrom !== undefined && total !== null
      const pace = isKnown
        ? paceOf({ done, total, fresh: done, elapsedMs: clock.now() - startedAt }, tellsFrom)
        : undefined
      return {
        stage,
        done,
        total,
        unit,
        rate: pace?.rate ?? null,
        leftMs: leftMs?.() ?? pace?.leftMs ?? null,
        figures,
        data: {},
      }
    },
  }
}

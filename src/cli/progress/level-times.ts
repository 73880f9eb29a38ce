import type { Clock } from '../../clock.ts'
import type { Cell } from '../../ladder/level.ts'

/** What a ladder is to climb: narrow to wide, and at each width every strategy as often as it is repeated. */
export interface LevelPlan {
  readonly widths: readonly number[]
  readonly strategies: readonly string[]
  readonly repetitions: number
}

/** How long the rest of a ladder takes, from the levels that are over. */
export interface LevelTimes {
  /** A level is over; it began when the one before was over. */
  done(cell: Pick<Cell, 'strategy' | 'width'>): void
  /** Milliseconds. Null as long as a strategy that still goes wider was measured at fewer than two widths, and when no level is left. */
  leftMs(): number | null
}

interface Measured {
  readonly width: number
  readonly meanMs: number
}

/**
 * A level takes as long as its repetitions did on the mean. One that has none yet takes what its strategy took at its widest so far, grown with the width as
 * that strategy's time last grew, between not at all and in proportion. From one width alone nobody can tell: much of what a narrow level takes is the same at
 * any width.
 */
export function makeLevelTimes({ widths, strategies, repetitions }: LevelPlan, clock: Clock): LevelTimes {
  const spent = new Map<string, number[]>()
  let since = clock.now()
  let widest = 0
  const timesOf = (strategy: string, width: number) => spent.get(`${strategy} ${width}`) ?? []

  function expectedMs(strategy: string, width: number): number | undefined {
    const measured = widths
      .map(each => ({ width: each, meanMs: mean(timesOf(strategy, each)) }))
      .filter(({ meanMs }) => meanMs > 0)
    const own = measured.find(each => each.width === width)
    if (own !== undefined) return own.meanMs
    const [before, last] = measured.slice(-2)
    if (before === undefined || last === undefined) return undefined
    return last.meanMs * (width / last.width) ** growthBetween(before, last)
  }

  return {
    done({ strategy, width }) {
      const now = clock.now()
      spent.set(`${strategy} ${width}`, [...timesOf(strategy, width), now - since])
      since = now
      widest = Math.max(widest, width)
    },
    leftMs() {
      // What is missing at a width that is over has failed, and does not come.
      const levels = widths
        .filter(width => width >= widest)
        .flatMap(width => strategies.map(strategy => ({ strategy, width })))
        .map(level => ({ ...level, missing: repetitions - timesOf(level.strategy, level.width).length }))
        .filter(({ missing }) => missing > 0)
      const times = levels.map(({ strategy, width }) => expectedMs(strategy, width))
      if (times.length === 0 || !times.every(ms => ms !== undefined)) return null
      const left = levels.reduce((sum, { missing }, place) => sum + missing * (times[place] ?? 0), 0)
      // What is under way takes no less than nothing: one that is late moves the end.
      return left - Math.min(clock.now() - since, times[0] ?? 0)
    },
  }
}

/** The exponent by which the time grew with the width. */
function growthBetween(before: Measured, last: Measured): number {
  const exponent = Math.log(last.meanMs / before.meanMs) / Math.log(last.width / before.width)
  return Math.min(1, Math.max(0, exponent))
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

import type { PoolMoment } from '../ladder/level.ts'
import type { MomentRow } from './columns.ts'

/** Of each stretch; what lies between moments of a longer one is left out. */
const MOST_MOMENTS = 300

/** What one pool held, put together from what its stretches tell one after the other. */
export interface TimeLine {
  /** `moments` count from the begin of the stretch. */
  add(during: string, moments: readonly PoolMoment[]): void
  rows(): readonly MomentRow[]
}

/** `parents` tells it from others of the same receipt. */
export function makeTimeLine(parents?: number): TimeLine {
  const rows: MomentRow[] = []
  let fromMs = 0
  return {
    add(during, moments) {
      for (const { atMs, ready, creating, leased, deleting, parents: held, providerReady } of thin(moments))
        rows.push({
          during,
          at_s: (fromMs + atMs) / 1_000,
          ready,
          creating,
          leased,
          deleting,
          ...(held === 0 && parents === undefined ? {} : { held_parents: held }),
          ...(providerReady === undefined ? {} : { provider_ready: providerReady }),
          ...(parents === undefined ? {} : { parents }),
        })
      fromMs += moments.at(-1)?.atMs ?? 0
    },
    rows: () => rows,
  }
}

/** Without those that are like both their neighbours, and evenly fewer where there are too many; the first and the last stay. */
function thin(moments: readonly PoolMoment[]): readonly PoolMoment[] {
  const telling = moments.filter(
    (moment, index) => !(isLike(moment, moments[index - 1]) && isLike(moment, moments[index + 1])),
  )
  const step = Math.ceil(telling.length / MOST_MOMENTS)
  return telling.filter((_, index) => index % step === 0 || index === telling.length - 1)
}

const FIGURES = ['ready', 'creating', 'leased', 'deleting', 'parents', 'providerReady'] as const

const isLike = (one: PoolMoment, other: PoolMoment | undefined): boolean =>
  other !== undefined && FIGURES.every(figure => one[figure] === other[figure])

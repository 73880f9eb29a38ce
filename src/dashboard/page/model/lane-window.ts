import type { LaneItem } from './lanes.ts'
import { median } from './median.ts'

/** What the reader may choose to look at; `auto` fits what is under way. */
export const WINDOWS = ['auto', '30 s', '2 min', '10 min', '30 min'] as const
export type WindowName = (typeof WINDOWS)[number]

const WINDOW_MS: Readonly<Record<Exclude<WindowName, 'auto'>, number>> = {
  '30 s': 30_000,
  '2 min': 120_000,
  '10 min': 600_000,
  '30 min': 1_800_000,
}
/** Steps, so that the picture does not breathe with every rollout. */
const AUTO_MS = [5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000]
/** So much more than the longest rollout under way is seen. */
const MARGIN = 1.3

/** A stretch of time, milliseconds since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** Ends now, or with the last rollout where none goes on. */
export function toWindow(items: Iterable<LaneItem>, at: number, name: WindowName): TimeWindow {
  let lastEnd = 0
  let firstStart = Number.POSITIVE_INFINITY
  let firstLive = at
  let hasLive = false
  const durations: number[] = []
  for (const { startedAt, endedAt } of items) {
    firstStart = Math.min(firstStart, startedAt)
    if (endedAt === null) {
      hasLive = true
      firstLive = Math.min(firstLive, startedAt)
    } else {
      lastEnd = Math.max(lastEnd, endedAt)
      durations.push(endedAt - startedAt)
    }
  }
  const to = hasLive || lastEnd === 0 ? at : lastEnd
  if (name !== 'auto') return { from: to - WINDOW_MS[name], to }
  // Of a job that is over, as much as there is; of one that goes on, what goes on and some of what came before.
  const wanted = hasLive ? Math.max(at - firstLive, 2 * (median(durations) ?? 0)) * MARGIN : to - firstStart
  return { from: to - (AUTO_MS.find(ms => ms >= wanted) ?? 1_800_000), to }
}

const TICKS_MS = [1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000]
/** Labels closer than this run into each other. */
const TICK_PIXELS = 84

/** Where lines stand, and how long before the window's end. */
export function toTicks(
  { from, to }: TimeWindow,
  width: number,
): readonly { readonly x: number; readonly beforeMs: number }[] {
  const span = to - from
  const step = TICKS_MS.find(ms => (ms / span) * width >= TICK_PIXELS) ?? 1_800_000
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => ({
    x: width * (1 - (index * step) / span),
    beforeMs: index * step,
  }))
}

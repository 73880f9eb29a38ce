import type { FeedNow } from '../../../feed/messages.ts'

/** What is drawn as a trend. `null`: nobody could tell at that moment. */
export const TREND_NAMES = [
  'inFlight',
  'credits',
  'ready',
  'leased',
  'hitRate',
  'loopDelayMs',
  'rate',
  'cost',
  'finished',
  'reward',
] as const
export type TrendName = (typeof TREND_NAMES)[number]

export interface TrendPoint extends Readonly<Record<TrendName, number | null>> {
  readonly at: number
}

/** Enough for a line of two minutes at the pace below. */
const MOST_POINTS = 240
/** Closer points are not told apart in a small line. */
const LEAST_GAP_MS = 500

/** The newest points, oldest first. The last one is replaced until it is old enough to be kept. */
export function addTrend(points: TrendPoint[], at: number, now: FeedNow): void {
  const point = toPoint(at, now)
  const before = points.at(-2)
  if (before !== undefined && at - before.at < LEAST_GAP_MS) points[points.length - 1] = point
  else points.push(point)
  if (points.length > MOST_POINTS) points.splice(0, points.length - MOST_POINTS)
}

function toPoint(at: number, { snapshot, rate, hitRate, cost }: FeedNow): TrendPoint {
  return {
    at,
    inFlight: snapshot?.inFlight ?? null,
    credits: snapshot?.creditsInUse ?? null,
    ready: snapshot?.pool?.ready ?? null,
    leased: snapshot?.pool?.leased ?? null,
    hitRate,
    loopDelayMs: snapshot?.loopDelayP99Ms ?? null,
    rate,
    cost: cost?.amount ?? null,
    finished: snapshot?.finishedRuns ?? null,
    reward: snapshot === null || snapshot.graded === 0 ? null : snapshot.rewardSum / snapshot.graded,
  }
}

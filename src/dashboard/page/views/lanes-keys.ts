import type { TimeWindow } from '../model/lane-window.ts'
import type { LaneItem } from '../model/lanes.ts'

/** Where an arrow key leads: up and down to the nearest rollout of another lane, left and right along the lane. */
export function nextItem(
  items: readonly LaneItem[],
  selected: string | null,
  key: string,
  { from, to }: TimeWindow,
): LaneItem | undefined {
  const seen = items
    .filter(({ startedAt, endedAt }) => startedAt <= to && (endedAt ?? to) >= from)
    .sort((one, other) => one.lane - other.lane || one.startedAt - other.startedAt)
  const now = seen.find(({ runId }) => runId === selected)
  if (key === 'Home') return seen[0]
  if (key === 'End') return seen.at(-1)
  const isLeft = key === 'ArrowLeft'
  const isUp = key === 'ArrowUp'
  if (!isLeft && !isUp && key !== 'ArrowRight' && key !== 'ArrowDown') return undefined
  if (now === undefined) return seen[0]
  if (isLeft || key === 'ArrowRight') {
    const along = seen.filter(({ lane }) => lane === now.lane)
    return along[along.indexOf(now) + (isLeft ? -1 : 1)] ?? now
  }
  const beyond = seen.filter(({ lane }) => (isUp ? lane < now.lane : lane > now.lane))
  const lane = (isUp ? beyond.at(-1) : beyond[0])?.lane
  return (
    nearest(
      beyond.filter(each => each.lane === lane),
      now.startedAt,
    ) ?? now
  )
}

function nearest(items: readonly LaneItem[], at: number): LaneItem | undefined {
  const [first, ...rest] = items
  if (first === undefined) return undefined
  return rest.reduce(
    (best, item) => (Math.abs(item.startedAt - at) < Math.abs(best.startedAt - at) ? item : best),
    first,
  )
}

import { type PathPiece, toGroups } from './critical-path.ts'
import { within } from './spans.ts'
import { lengthOf, PARTS, type Part, type RunTimeline, type Span } from './timeline.ts'

/** What one part took, in milliseconds. */
export interface PartTime {
  readonly part: Part
  /** On the critical path: over all parts, the step's wall time. */
  readonly pathMs: number
  /** Of that, while all but the last tenth of the step's rollouts were over: waiting for stragglers, by cause. */
  readonly stragglersMs: number
  /** In all rollouts: over all parts, their durations. */
  readonly rolloutsMs: number
  /** In members that ended last in their groups, times the siblings that were over and waited. */
  readonly siblingsMs: number
}

/** Share of rollouts that are over when the wait for stragglers begins. */
const MOST = 0.9

/** Each part that took any time, in the order of a rollout. */
export function sumParts(path: readonly PathPiece[], runs: readonly RunTimeline[]): readonly PartTime[] {
  const tail = findTail(runs)
  const onPath = new Sums()
  const stragglers = new Sums()
  const rollouts = new Sums()
  const siblings = new Sums()
  for (const piece of path) {
    onPath.add(piece.part, lengthOf(piece))
    stragglers.add(piece.part, within(piece, tail))
  }
  for (const run of runs) for (const segment of run.segments) rollouts.add(segment.part, lengthOf(segment))
  for (const { groupId, last } of toGroups(runs)) {
    const others = runs.filter(run => run.groupId === groupId && run !== last)
    for (const { to } of others)
      for (const segment of last.segments) siblings.add(segment.part, within(segment, { from: to, to: last.to }))
  }
  return PARTS.map(part => ({
    part,
    pathMs: onPath.of(part),
    stragglersMs: stragglers.of(part),
    rolloutsMs: rollouts.of(part),
    siblingsMs: siblings.of(part),
  })).filter(({ pathMs, rolloutsMs }) => pathMs > 0 || rolloutsMs > 0)
}

/** From when nine tenths of the rollouts, rounded down, were over to the end of the last. */
export function findTail(runs: readonly RunTimeline[]): Span {
  const ends = runs.map(({ to }) => to).toSorted((a, b) => a - b)
  const to = ends.at(-1) ?? 0
  return { from: ends[Math.floor(ends.length * MOST) - 1] ?? to, to }
}

class Sums {
  readonly #byPart = new Map<Part, number>()

  add(part: Part, ms: number): void {
    this.#byPart.set(part, this.of(part) + ms)
  }

  of(part: Part): number {
    return this.#byPart.get(part) ?? 0
  }
}

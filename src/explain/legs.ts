import type { PathPiece } from './critical-path.ts'
import { lengthOf, type Part, type Span } from './timeline.ts'

/** A stretch of the critical path that belongs to one run, one call or nobody, and what it went to. */
export interface Leg extends Span {
  readonly owner: PathPiece['owner']
  /** In the order in which they first come. */
  readonly parts: readonly { readonly part: Part; readonly ms: number }[]
}

/** In the order of time. A run's turns are one leg: its model and tools are summed. */
export function toLegs(path: readonly PathPiece[]): readonly Leg[] {
  const legs: { from: number; to: number; owner: PathPiece['owner']; parts: Map<Part, number> }[] = []
  for (const piece of path) {
    const last = legs.at(-1)
    const isSame = last !== undefined && piece.owner.type !== 'nobody' && isOfOne(last.owner, piece.owner)
    const leg = isSame ? last : { from: piece.from, to: piece.to, owner: piece.owner, parts: new Map<Part, number>() }
    if (!isSame) legs.push(leg)
    leg.to = piece.to
    leg.parts.set(piece.part, (leg.parts.get(piece.part) ?? 0) + lengthOf(piece))
  }
  return legs.map(leg => ({ ...leg, parts: [...leg.parts].map(([part, ms]) => ({ part, ms })) }))
}

function isOfOne(one: PathPiece['owner'], other: PathPiece['owner']): boolean {
  if (one.type === 'run' && other.type === 'run') return one.run.runId === other.run.runId
  return one.type === 'call' && other.type === 'call' && one.call.call === other.call.call
}

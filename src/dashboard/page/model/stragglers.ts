import type { GroupBook, GroupView, Member } from './groups.ts'
import { median } from './median.ts'

/** A rollout that is far beyond its siblings. */
export interface Straggler {
  readonly runId: string
  readonly groupId: string
  readonly slug: string
  readonly member: number
  readonly elapsedMs: number
  /** Median of its siblings that have ended. */
  readonly medianMs: number
  readonly isLive: boolean
  readonly phase: string
}

/** So many times as long as the median, and so much longer at least. */
const TIMES = 2
const BEYOND_MS = 1_000
/** Fewer ended siblings say nothing. */
const LEAST_ENDED = 2

/** Those that go on, of groups of which half has ended; the one that is furthest beyond first. */
export function findStragglers(groups: GroupBook, at: number): Straggler[] {
  return groups
    .forming()
    .flatMap(group => ofGroup(group, at))
    .sort((one, other) => other.elapsedMs - other.medianMs - (one.elapsedMs - one.medianMs))
}

/** Whether a run that has ended was far beyond its siblings: the same bounds. */
export function wasStraggler(group: GroupView | undefined, runId: string): boolean {
  if (group === undefined) return false
  const own = group.members.find(member => member?.type === 'ended' && member.run.runId === runId)
  const others = durations(group.members.filter(member => member !== own))
  const middle = median(others)
  return own?.type === 'ended' && others.length >= LEAST_ENDED && isBeyond(own.run.endedAt - own.run.startedAt, middle)
}

function ofGroup({ groupId, slug, members }: GroupView, at: number): Straggler[] {
  const ended = durations(members)
  const known = members.filter(member => member !== undefined).length
  const middle = median(ended)
  if (middle === null || ended.length < LEAST_ENDED || ended.length * 2 < known) return []
  return members.flatMap(member => {
    if (member?.type !== 'running') return []
    const { runId, startedAt, phase } = member.live
    const elapsedMs = at - startedAt
    if (!isBeyond(elapsedMs, middle)) return []
    return [{ runId, groupId, slug, member: member.live.member, elapsedMs, medianMs: middle, isLive: true, phase }]
  })
}

function durations(members: readonly (Member | undefined)[]): number[] {
  return members.flatMap(member => (member?.type === 'ended' ? [member.run.endedAt - member.run.startedAt] : []))
}

function isBeyond(elapsedMs: number, middle: number | null): boolean {
  return middle !== null && elapsedMs > middle * TIMES && elapsedMs - middle > BEYOND_MS
}

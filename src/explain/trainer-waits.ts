import type { GroupId } from '../ids.ts'
import { type GroupTimeline, toGroups } from './critical-path.ts'
import type { RunTimeline, StepTimeline } from './timeline.ts'

/** How long the trainer stood still before one of its calls, and for whom. */
export interface TrainerWait {
  readonly call: number
  readonly waitedMs: number
  /** Of the call's groups the one that ended last, and its last member; null where the journal has none of them. */
  readonly last: Pick<RunTimeline, 'groupId' | 'slug' | 'member' | 'runId'> | null
  /** Of `waitedMs`, how long as many groups as the call took, of those that were still to be trained on, were there already. */
  readonly readyMs: number
}

/** In the order of the calls. The first wait begins with the step or, where that was later, with the end of the one before. */
export function findTrainerWaits({ runs, calls, beforeEndedAt = 0 }: StepTimeline): readonly TrainerWait[] {
  const groups = new Map(toGroups(runs).map(group => [group.groupId, group]))
  const ordered = calls.toSorted((a, b) => a.from - b.from || a.call - b.call)
  let free = Math.max(0, beforeEndedAt)
  return ordered.map(({ call, from, to, groups: own }, place): TrainerWait => {
    const waitedMs = Math.max(0, from - free)
    const last = find(groups, own).toSorted((a, b) => b.to - a.to || a.index - b.index)[0]?.last
    const left = find(
      groups,
      ordered.slice(place).flatMap(each => each.groups),
    )
    const ends = left.map(group => group.to).toSorted((a, b) => a - b)
    const ready = Math.max(free, ends[own.length - 1] ?? from)
    free = Math.max(free, to)
    return {
      call,
      waitedMs,
      last:
        last === undefined ? null : { groupId: last.groupId, slug: last.slug, member: last.member, runId: last.runId },
      readyMs: Math.max(0, Math.min(waitedMs, from - ready)),
    }
  })
}

function find(groups: ReadonlyMap<GroupId, GroupTimeline>, ids: readonly GroupId[]): readonly GroupTimeline[] {
  return ids.flatMap(groupId => groups.get(groupId) ?? [])
}

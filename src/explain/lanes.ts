import { toGroups } from './critical-path.ts'
import type { ExplainedStep } from './explain-job.ts'
import { toLegs } from './legs.ts'
import type { RunTimeline, Span } from './timeline.ts'

/** Where a run stands in the picture: from `top` to `top + 1`, groups with a gap between them. */
export interface Lane {
  readonly run: RunTimeline
  readonly top: number
}

export interface Lanes {
  readonly lanes: readonly Lane[]
  /** Of each group, where it stands and what its task is called. */
  readonly groups: readonly { readonly slug: string; readonly top: number; readonly bottom: number }[]
  readonly bottom: number
  /** Rollouts that are not drawn. */
  readonly left: number
}

/** More are not told from each other on a page. */
const MOST_LANES = 400
const GROUP_GAP = 0.6

/** Groups in the order of their ends, members side by side: what ended last stands at the bottom. Of a wide step, the groups that ended last. */
export function toLanes(runs: readonly RunTimeline[]): Lanes {
  const lanes: Lane[] = []
  const groups: { slug: string; top: number; bottom: number }[] = []
  const kept: RunTimeline[][] = []
  let count = 0
  for (const { groupId, last } of toGroups(runs).toSorted((a, b) => b.to - a.to || a.index - b.index)) {
    const members = runs.filter(run => run.groupId === groupId).toSorted((a, b) => a.member - b.member)
    // Of a group that is too large alone, its last member stands for it.
    const drawn = members.length > MOST_LANES ? [last] : members
    if (count + drawn.length > MOST_LANES) break
    count += drawn.length
    kept.unshift(drawn)
  }
  let top = 0
  for (const members of kept) {
    const from = top
    for (const run of members) {
      lanes.push({ run, top })
      top += 1
    }
    groups.push({ slug: members[0]?.slug ?? '', top: from, bottom: top })
    top += GROUP_GAP
  }
  return { lanes, groups, bottom: Math.max(1, top - GROUP_GAP), left: runs.length - count }
}

/** The stretches of the critical path that lie on lanes, in the order of time. */
export function pathOnLanes({ path }: ExplainedStep, { lanes }: Lanes): readonly (Span & { readonly top: number })[] {
  const tops = new Map(lanes.map(({ run, top }) => [run.runId, top]))
  return toLegs(path).flatMap(({ owner, from, to }) => {
    const top = owner.type === 'run' ? tops.get(owner.run.runId) : undefined
    return top === undefined ? [] : [{ from, to, top }]
  })
}

import { toGroups } from './critical-path.ts'
import { within } from './spans.ts'
import type { Part, RunTimeline, StepTimeline } from './timeline.ts'

/** Who ended last, and what it did after all others of its kind were over. */
export interface Straggler {
  /** The last group of several; of a single group, its last member. */
  readonly of: 'groups' | 'members'
  readonly count: number
  readonly run: Pick<RunTimeline, 'runId' | 'groupId' | 'slug' | 'member'>
  readonly endedAtMs: number
  /** After the one before it. */
  readonly aloneMs: number
  /** What its last member did in that time, the longest first. */
  readonly spent: readonly { readonly part: Part; readonly ms: number }[]
}

/** Undefined where there is nothing to be later than. */
export function findStraggler({ runs }: StepTimeline): Straggler | undefined {
  const groups = toGroups(runs)
  const several = groups.length > 1
  const ends = several
    ? groups.map(({ to, last, index }) => ({ to, run: last, place: index }))
    : runs.map(run => ({ to: run.to, run, place: run.member }))
  const [last, before] = ends.toSorted((a, b) => b.to - a.to || a.place - b.place)
  if (last === undefined || before === undefined) return undefined
  const { runId, groupId, slug, member, segments } = last.run
  const alone = { from: before.to, to: last.to }
  const spent = new Map<Part, number>()
  for (const segment of segments) spent.set(segment.part, (spent.get(segment.part) ?? 0) + within(segment, alone))
  return {
    of: several ? 'groups' : 'members',
    count: ends.length,
    run: { runId, groupId, slug, member },
    endedAtMs: last.to,
    aloneMs: last.to - before.to,
    spent: [...spent].flatMap(([part, ms]) => (ms > 0 ? [{ part, ms }] : [])).toSorted((a, b) => b.ms - a.ms),
  }
}

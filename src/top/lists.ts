import type { FeedState, LiveRollout } from '../feed/messages.ts'
import { clockTime, fit, pad, toPlain } from './text.ts'
import type { ListName, Sort } from './view.ts'
import { workersOf } from './workers.ts'

/** A list: what it is called, the heads of its columns, and its entries, the most important first. */
export interface List {
  readonly name: ListName
  readonly title: string
  readonly head: string
  readonly count: number
  /** So many of the first entries, a line each: of a thousand only those are written that are seen. */
  lines(most: number): readonly string[]
  /** In the place of lines, where there are none. */
  readonly empty: string
}

/** Narrower, and what is not needed to tell rollouts apart is left out. */
const WIDE = 100
const PHASE = 12
const TIME = 9
const MEMBER = 4
const GAP = '  '

/** Every list of a state, as wide as that. */
export function toLists(state: FeedState, sort: Sort, columns: number): Readonly<Record<ListName, List>> {
  return {
    rollouts: rolloutsOf(state, sort, columns),
    groups: groupsOf(state, columns),
    failures: failuresOf(state, columns),
    problems: problemsOf(state, columns),
    workers: workersOf(state, columns),
  }
}

function rolloutsOf({ live, at, job }: FeedState, sort: Sort, columns: number): List {
  const isWide = columns >= WIDE
  const runWidth = isWide ? 24 : 0
  const slugWidth = Math.max(8, columns - MEMBER - GAP.length - PHASE - 2 * TIME - runWidth)
  const row = (slug: string, member: string, phase: string, since: string, whole: string, run: string) =>
    fit(
      [
        ...[pad(slug, slugWidth), pad(member, MEMBER, 'right'), GAP, pad(phase, PHASE)],
        ...[pad(since, TIME, 'right'), pad(whole, TIME, 'right')],
        ...(isWide ? [GAP, pad(run, runWidth - GAP.length)] : []),
      ].join(''),
      columns,
    ).trimEnd()
  const sorted = live.toSorted(BY[sort])
  return {
    name: 'rollouts',
    title: `rollouts ${live.length}, ${SORTED[sort]}`,
    head: row('task', '#', 'phase', 'in phase', 'in all', 'run'),
    count: sorted.length,
    lines: most =>
      sorted
        .slice(0, most)
        .map(({ slug, member, attempt, phase, since, startedAt, runId }) =>
          row(
            toPlain(attempt > 1 ? `${slug} (attempt ${attempt})` : slug),
            String(member),
            phase,
            clockTime(at - since),
            clockTime(at - startedAt),
            runId,
          ),
        ),
    empty: job.source === 'followed' ? 'only the engine itself knows which are under way' : 'none is under way',
  }
}

const SORTED: Readonly<Record<Sort, string>> = {
  longest: 'the longest first',
  phase: 'the longest in their phase first',
  task: 'by task',
}

const BY: Readonly<Record<Sort, (one: LiveRollout, other: LiveRollout) => number>> = {
  longest: (one, other) => one.startedAt - other.startedAt,
  phase: (one, other) => one.since - other.since,
  task: (one, other) => one.slug.localeCompare(other.slug, 'en', { numeric: true }) || one.member - other.member,
}

interface OpenGroup {
  readonly slug: string
  startedAt: number
  underWay: number
  readonly rewards: (number | null)[]
}

/** Groups of which a rollout is under way, with what those have that ended. */
function groupsOf({ live, runs, at }: FeedState, columns: number): List {
  const open = new Map<string, OpenGroup>()
  for (const { groupId, slug, startedAt } of live) {
    const group = open.get(groupId) ?? { slug, startedAt, underWay: 0, rewards: [] }
    group.underWay += 1
    group.startedAt = Math.min(group.startedAt, startedAt)
    open.set(groupId, group)
  }
  for (const { groupId, reward, startedAt } of runs) {
    const group = open.get(groupId)
    if (group === undefined) continue
    group.rewards.push(reward)
    group.startedAt = Math.min(group.startedAt, startedAt)
  }
  const slugWidth = Math.max(8, Math.floor(columns / 3))
  const row = (slug: string, underWay: string, ended: string, time: string, rewards: string) =>
    fit(
      `${pad(slug, slugWidth)}${pad(underWay, 10, 'right')}${pad(ended, 7, 'right')}${pad(time, TIME, 'right')}  ${rewards}`,
      columns,
    ).trimEnd()
  const sorted = [...open.values()].sort((one, other) => one.startedAt - other.startedAt)
  return {
    name: 'groups',
    title: `groups under way ${open.size}`,
    head: row('task', 'under way', 'ended', 'in all', 'rewards'),
    count: sorted.length,
    lines: most =>
      sorted
        .slice(0, most)
        .map(({ slug, underWay, rewards, startedAt }) =>
          row(
            toPlain(slug),
            String(underWay),
            String(rewards.length),
            clockTime(at - startedAt),
            rewards.map(reward => (reward === null ? '–' : String(Number(reward.toFixed(2))))).join(' '),
          ),
        ),
    empty: 'none is under way',
  }
}

function failuresOf({ failures }: FeedState, columns: number): List {
  const sorted = failures.toSorted((one, other) => other.count - one.count)
  const total = failures.reduce((sum, { count }) => sum + count, 0)
  return {
    name: 'failures',
    title: `failures ${total}`,
    head: fit(`${pad('count', 7, 'right')}  ${pad('kind', 22)} first example`, columns),
    count: sorted.length,
    lines: most =>
      sorted.slice(0, most).map(({ kind, count, first }) => {
        const where = first.phase === null ? '' : ` while ${first.phase}`
        const example = `${first.slug}${where}: ${first.message}`
        return fit(
          `${pad(String(count), 7, 'right')}  ${pad(toPlain(kind), 22)} ${toPlain(example)}`,
          columns,
        ).trimEnd()
      }),
    empty: 'none',
  }
}

function problemsOf({ problems }: FeedState, columns: number): List {
  return {
    name: 'problems',
    title: `said unasked ${problems.length}`,
    head: fit(`${pad('at', 9)} ${pad('of', 12)} what`, columns),
    count: problems.length,
    lines: most =>
      problems
        .toReversed()
        .slice(0, most)
        .map(({ at, kind, message }) =>
          fit(`${pad(timeOfDay(at), 9)} ${pad(toPlain(kind), 12)} ${toPlain(message)}`, columns).trimEnd(),
        ),
    empty: 'nothing',
  }
}

/** In UTC, as the event file has it. */
export function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19)
}

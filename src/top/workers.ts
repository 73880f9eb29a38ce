import type { FeedState } from '../feed/messages.ts'
import type { KnownWorker } from '../telemetry/channels.ts'
import type { List } from './lists.ts'
import { clockTime, fit, pad, toPlain } from './text.ts'

/** Narrower, and only what tells whether a worker works is shown. */
const WIDE = 100
const STATE = 13
const ROLLOUTS = 10
const NUMBER = 8
const BAR = 8
const GAP = '  '

/** Who rolls out, of a job on several machines: those that are silent, lost or drain first, and those that have left last. */
export function workersOf({ workers, at }: FeedState, columns: number): List {
  const isWide = columns >= WIDE
  const tail = isWide ? 3 * NUMBER + 12 : 0
  const nodeWidth = Math.max(8, columns - STATE - ROLLOUTS - BAR - GAP.length - NUMBER - tail)
  const row = (cells: Cells) =>
    fit(
      [
        ...[pad(fit(cells.node, nodeWidth - 1), nodeWidth), pad(cells.state, STATE)],
        ...(cells.fate === undefined
          ? [pad(cells.bar, BAR), pad(cells.rollouts, ROLLOUTS, 'right'), GAP, pad(cells.rate, NUMBER, 'right')]
          : [pad(cells.fate, BAR + ROLLOUTS + GAP.length + NUMBER)]),
        ...(isWide ? [cells.groups, cells.runs, cells.sandboxes].map(each => pad(each, NUMBER, 'right')) : []),
        ...(isWide ? [pad(cells.since, 12, 'right')] : []),
      ].join(''),
      columns,
    ).trimEnd()
  const list = workers?.list ?? []
  const hasOthers = list.some(({ state }) => state === 'joined')
  return {
    name: 'workers',
    title: `workers ${workers?.count ?? 0}`,
    head: row(HEADS),
    count: list.length,
    lines: most => list.slice(0, most).map(worker => row(toCells(worker, at, hasOthers))),
    empty: workers === undefined ? 'this job runs on one machine' : 'none is there',
  }
}

interface Cells {
  readonly node: string
  readonly state: string
  readonly bar: string
  readonly rollouts: string
  readonly rate: string
  readonly groups: string
  readonly runs: string
  readonly sandboxes: string
  readonly since: string
  /** Of one that is gone, in the place of bar, rollouts and rate: what became of its groups. */
  readonly fate?: string
}

const HEADS: Cells = {
  node: 'worker',
  state: 'state',
  bar: '',
  rollouts: 'rollouts',
  rate: 'ended/s',
  groups: 'groups',
  runs: 'ended',
  sandboxes: 'boxes',
  since: 'there for',
}

function toCells(worker: KnownWorker, at: number, hasOthers: boolean): Cells {
  const { node, state, rollouts, credits, groups, runs, rate, sandboxes, since, heardAt, goneAt } = worker
  const isGone = goneAt !== undefined
  const sinceState = isGone ? at - goneAt : state === 'silent' ? at - heardAt : undefined
  const full = credits === 0 ? 0 : Math.floor(Math.min(1, rollouts / credits) * BAR)
  return {
    // All begin alike.
    node: toPlain(node.replace(/^worker-/, '')),
    state: sinceState === undefined ? state : `${state} ${clockTime(sinceState)}`,
    ...(isGone ? { fate: tellFate(worker, at, hasOthers) } : {}),
    bar: '█'.repeat(full) + '░'.repeat(BAR - full),
    rollouts: `${rollouts}/${credits}`,
    rate: rate.toFixed(1),
    groups: isGone ? '' : String(groups),
    runs: String(runs),
    sandboxes: sandboxes === null ? '' : String(sandboxes),
    since: clockTime((isGone ? heardAt : at) - since),
  }
}

function tellFate({ state, groups, othersAt }: KnownWorker, at: number, hasOthers: boolean): string {
  if (state === 'left' || groups === 0) return ''
  const had = `${groups} ${groups === 1 ? 'group' : 'groups'}`
  if (othersAt !== undefined && at < othersAt) return `${had} for others soon`
  return hasOthers ? `${had} given to others` : `${had} wait for a worker`
}

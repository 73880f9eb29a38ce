import type {
  FeedChunk,
  FeedFailure,
  FeedJob,
  FeedMessage,
  FeedNow,
  FeedProblem,
  FeedRun,
  FeedState,
  FeedTick,
  FeedWorkers,
  LiveRollout,
} from '../../../feed/messages.ts'
import type { Phase } from '../../../rollout/run.ts'
import type { EvaluationRecord, StepRecord } from '../../../training/records.ts'
import { PHASE_ORDER } from '../palette.ts'
import { GroupBook } from './groups.ts'
import { LaneBook } from './lanes.ts'
import { addTrend, type TrendPoint } from './trends.ts'

/** Whether the page hears from the engine. */
export type Link =
  | { readonly type: 'connecting' }
  | { readonly type: 'open' }
  /** `why` where the server said it. */
  | { readonly type: 'lost'; readonly retryInMs: number; readonly tries: number; readonly why?: string }

/** All that the page knows, outside of the document. Changed in place by each message; what is shown is made anew from it once a frame. */
export interface PageState {
  link: Link
  job: FeedJob | null
  at: number
  /** The page's clock when `at` was heard, so that what goes on can grow between messages. */
  heardAt: number
  now: FeedNow | null
  live: readonly LiveRollout[]
  groups: GroupBook
  lanes: LaneBook
  /** Newest first. */
  runs: FeedRun[]
  chunks: FeedChunk[]
  steps: StepRecord[]
  evaluations: EvaluationRecord[]
  failures: FeedFailure[]
  problems: FeedProblem[]
  /** Null: nobody tells of any. */
  workers: FeedWorkers | null
  trends: TrendPoint[]
}

const MOST_RUNS = 500
const MOST_CHUNKS = 400
const MOST_PROBLEMS = 200
const MOST_STEPS = 10_000

export function emptyState(): PageState {
  return {
    link: { type: 'connecting' },
    job: null,
    at: 0,
    heardAt: 0,
    now: null,
    live: [],
    groups: new GroupBook(),
    lanes: new LaneBook(),
    runs: [],
    chunks: [],
    steps: [],
    evaluations: [],
    failures: [],
    problems: [],
    workers: null,
    trends: [],
  }
}

/** `heardAt`: the page's own clock, in milliseconds. */
export function hear(state: PageState, message: FeedMessage, heardAt: number): void {
  if (message.type === 'state') begin(state, message)
  else if (state.job === null)
    return // A tick is nothing without the state that it changes.
  else goOn(state, message)
  state.heardAt = heardAt
}

/** The feed's clock now: it goes on between messages. */
export function clockOf({ at, heardAt, job }: PageState, now: number): number {
  return job === null || job.source === 'over' ? at : at + Math.max(0, now - heardAt)
}

/** How many rollouts are in each phase: also those of a wide job that `live` does not list. */
export function phaseCounts({ now, live }: Pick<PageState, 'now' | 'live'>): ReadonlyMap<Phase, number> {
  const counts = new Map<Phase, number>()
  if (now?.phases !== undefined) {
    for (const phase of PHASE_ORDER) {
      const count = now.phases[phase] ?? 0
      if (count > 0) counts.set(phase, count)
    }
    return counts
  }
  for (const { phase } of live) counts.set(phase, (counts.get(phase) ?? 0) + 1)
  return counts
}

export function countUnderWay(state: Pick<PageState, 'now' | 'live'>): number {
  return [...phaseCounts(state).values()].reduce((sum, each) => sum + each, 0)
}

/** A `state` is the whole: also after a connection was lost. Of the same job only the trends are kept, which it does not tell, and the lanes, so that they do not jump. */
function begin(state: PageState, whole: FeedState): void {
  const { trends, lanes, link } = state
  const kept = state.job?.jobId === whole.job.jobId ? { trends, lanes } : {}
  Object.assign(state, { ...emptyState(), ...kept, link, job: whole.job })
  const { at, now, live, runs, groups, chunks, failures, problems, workers } = whole
  const known = { at, now, live, runs, groups, chunks, failures, problems, ...whole.training }
  goOn(state, workers === undefined ? known : { ...known, workers })
}

function goOn(state: PageState, tick: FeedTick): void {
  state.at = tick.at
  state.now = tick.now
  if (tick.source !== undefined && state.job !== null) state.job = { ...state.job, source: tick.source }
  for (const run of tick.runs ?? []) {
    state.groups.addRun(run)
    state.runs.unshift(run)
  }
  if (tick.runs !== undefined) state.lanes.addRuns(tick.runs)
  state.runs.length = Math.min(state.runs.length, MOST_RUNS)
  if (tick.live !== undefined) {
    state.live = tick.live
    for (const live of tick.live) state.groups.addLive(live)
    state.lanes.setLive(tick.live, tick.at)
  }
  for (const group of tick.groups ?? []) state.groups.addEnd(group)
  for (const chunk of tick.chunks ?? []) state.groups.addChunk(chunk)
  addNewest(state.chunks, tick.chunks, MOST_CHUNKS)
  state.steps = addInOrder(state.steps, tick.steps, ({ step }) => step)
  state.evaluations = addInOrder(
    state.evaluations,
    tick.evaluations,
    ({ afterSteps, split }) => `${split} ${afterSteps}`,
  )
  addNewest(state.problems, tick.problems, MOST_PROBLEMS)
  if (tick.failures !== undefined) state.failures = mergeFailures(state.failures, tick.failures)
  if (tick.workers !== undefined) state.workers = tick.workers
  addTrend(state.trends, tick.at, tick.now)
}

function addNewest<Item>(list: Item[], added: readonly Item[] | undefined, most: number): void {
  if (added === undefined) return
  list.push(...added)
  if (list.length > most) list.splice(0, list.length - most)
}

/** Each once, by their steps, whatever order they are told in. */
function addInOrder<Item extends { readonly step: number } | { readonly afterSteps: number }>(
  known: Item[],
  added: readonly Item[] | undefined,
  key: (item: Item) => number | string,
): Item[] {
  if (added === undefined || added.length === 0) return known
  const place = (item: Item) => ('step' in item ? item.step : item.afterSteps)
  const byKey = new Map([...known, ...added].map(item => [key(item), item]))
  return [...byKey.values()].sort((one, other) => place(one) - place(other)).slice(-MOST_STEPS)
}

/** The most frequent first. */
function mergeFailures(known: readonly FeedFailure[], changed: readonly FeedFailure[]): FeedFailure[] {
  const byKind = new Map([...known, ...changed].map(failure => [`${failure.outcome} ${failure.kind}`, failure]))
  return [...byKind.values()].sort((one, other) => other.count - one.count || one.first.at - other.first.at)
}

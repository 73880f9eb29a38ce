import type { FeedRun, LiveRollout } from '../../../feed/messages.ts'
import type { Phase } from '../../../rollout/run.ts'
import { PHASE_ORDER } from '../palette.ts'

/** A stretch of a rollout; `phase` is null for what was over before the page came. */
export interface Stretch {
  readonly phase: Phase | null
  readonly from: number
  /** Null while it goes on. */
  readonly to: number | null
}

/** One rollout on its lane. Changed in place. */
export interface LaneItem {
  readonly runId: string
  readonly groupId: string
  readonly slug: string
  readonly member: number
  lane: number
  startedAt: number
  /** Null while it goes on. */
  endedAt: number | null
  attempt: number
  phase: Phase
  since: number
  /** Absent until it has ended. */
  run: FeedRun | null
  stretches: Stretch[]
  /** The number of the message in which it was last seen to go on. */
  seen: number
}

/** How long what has ended stays, and of how many. */
const KEPT_MS = 30 * 60_000
const MOST_ITEMS = 12_000
/** Messages between looks for what has ended long ago. */
const PRUNE_EVERY = 40

/** Rollouts on lanes: each takes the first one that is free when it begins and keeps it, so that nothing jumps. */
export class LaneBook {
  readonly #items = new Map<string, LaneItem>()
  /** Those that go on. */
  readonly #open = new Set<LaneItem>()
  /** Since when each lane is free; infinite where it is not. */
  readonly #freeAt: number[] = []
  /** The lanes that are free, the first one first: few, however many there are. */
  readonly #free: number[] = []
  #message = 0
  /** Of a job that is over, time stood still with its last rollout. */
  #lastEnd = 0

  /** The whole of what goes on at `at`: what is not among it has ended, even if its end was never told. */
  setLive(live: readonly LiveRollout[], at: number): void {
    this.#message += 1
    const fresh: LiveRollout[] = []
    for (const one of live) {
      const known = this.#items.get(one.runId)
      if (known === undefined) fresh.push(one)
      else this.#goOn(known, one)
    }
    // Their lanes are free for those that are new.
    for (const item of this.#open) if (item.seen !== this.#message) this.#end(item, Math.max(at, item.since))
    for (const one of fresh) this.#begin(one)
    this.#prune(this.#open.size > 0 ? at : this.#lastEnd)
  }

  /** Those that began first take their lanes first. */
  addRuns(runs: readonly FeedRun[]): void {
    for (const run of runs.toSorted((one, other) => one.startedAt - other.startedAt)) this.#addRun(run)
  }

  #addRun(run: FeedRun): void {
    const known = this.#items.get(run.runId)
    if (known?.run != null && known.run.attempt > run.attempt) return
    const item = known ?? this.#add({ ...run, phase: run.failedPhase ?? 'cleanup', since: run.startedAt })
    item.run = run
    item.attempt = run.attempt
    item.startedAt = Math.min(item.startedAt, run.startedAt)
    item.stretches = toStretches(run)
    this.#end(item, run.endedAt)
  }

  items(): Iterable<LaneItem> {
    return this.#items.values()
  }

  get(runId: string): LaneItem | undefined {
    return this.#items.get(runId)
  }

  get laneCount(): number {
    return this.#freeAt.length
  }

  #begin(live: LiveRollout): void {
    const item = this.#add(live)
    if (live.since > live.startedAt) item.stretches.push({ phase: null, from: live.startedAt, to: live.since })
    item.stretches.push({ phase: live.phase, from: live.since, to: null })
  }

  #goOn(item: LaneItem, live: LiveRollout): void {
    item.seen = this.#message
    if (item.endedAt === null && item.phase === live.phase && item.since === live.since) return
    if (item.run !== null && item.run.attempt >= live.attempt) return
    if (item.endedAt !== null) this.#reopen(item, live.startedAt)
    item.attempt = live.attempt
    item.phase = live.phase
    item.since = live.since
    item.stretches = item.stretches.map(each => (each.to === null ? { ...each, to: live.since } : each))
    item.stretches.push({ phase: live.phase, from: live.since, to: null })
  }

  #add(one: Omit<LiveRollout, 'step'>): LaneItem {
    const { runId, groupId, slug, member, attempt, phase, startedAt, since } = one
    const lane = this.#take(startedAt)
    const about = { runId, groupId, slug, member, attempt, phase, startedAt, since }
    const item: LaneItem = { ...about, lane, endedAt: null, run: null, stretches: [], seen: this.#message }
    this.#items.set(runId, item)
    this.#open.add(item)
    return item
  }

  /** It goes on after all, as another attempt: on its own lane, if nobody has taken it. */
  #reopen(item: LaneItem, startedAt: number): void {
    const own = this.#freeAt[item.lane] === item.endedAt ? this.#free.indexOf(item.lane) : -1
    if (own === -1) item.lane = this.#take(startedAt)
    else this.#occupy(own)
    this.#open.add(item)
    item.run = null
    item.endedAt = null
  }

  #take(startedAt: number): number {
    const free = this.#free.findIndex(lane => (this.#freeAt[lane] ?? 0) <= startedAt)
    if (free !== -1) return this.#occupy(free)
    this.#freeAt.push(Number.POSITIVE_INFINITY)
    return this.#freeAt.length - 1
  }

  /** `place`: among the free ones. Returns the lane. */
  #occupy(place: number): number {
    const [lane = 0] = this.#free.splice(place, 1)
    this.#freeAt[lane] = Number.POSITIVE_INFINITY
    return lane
  }

  #end(item: LaneItem, at: number): void {
    if (item.endedAt === null) {
      this.#open.delete(item)
      this.#freeAt[item.lane] = at
      const after = this.#free.findIndex(lane => lane > item.lane)
      this.#free.splice(after === -1 ? this.#free.length : after, 0, item.lane)
    }
    item.endedAt = at
    this.#lastEnd = Math.max(this.#lastEnd, at)
    item.stretches = item.stretches.map(each => (each.to === null ? { ...each, to: at } : each))
  }

  #prune(at: number): void {
    if (this.#items.size < MOST_ITEMS && this.#message % PRUNE_EVERY !== 0) return
    for (const [runId, { endedAt }] of this.#items) {
      const isOld = endedAt !== null && endedAt < at - KEPT_MS
      if (isOld || (endedAt !== null && this.#items.size > MOST_ITEMS * 0.9)) this.#items.delete(runId)
    }
  }
}

/** From the time that each phase took, one after the other. */
export function toStretches({ startedAt, timings }: Pick<FeedRun, 'startedAt' | 'timings'>): Stretch[] {
  let from = startedAt
  return PHASE_ORDER.flatMap(phase => {
    const ms = timings[phase]
    if (ms === undefined) return []
    const stretch = { phase, from, to: from + ms }
    from = stretch.to
    return [stretch]
  })
}

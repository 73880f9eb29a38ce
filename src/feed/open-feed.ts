import { type Clock, systemClock } from '../clock.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import type { Job } from '../job/job.ts'
import type { JobSnapshot } from '../job/snapshot.ts'
import { hide, hideInError, hideInValue } from '../redact.ts'
import type { LiveList } from '../rollout/live.ts'
import { listenToJob } from '../telemetry/listen.ts'
import type { TrainingEvent } from '../training/loop/events.ts'
import { readVersion } from '../version.ts'
import { type FeedBook, makeFeedBook } from './book.ts'
import { readEarlier } from './earlier.ts'
import { type Feed, makeFeed } from './feed.ts'
import type { FeedNow } from './messages.ts'
import { makeRate } from './rate.ts'
import { toFeedGroup, toFeedRun, toFeedWorkers, toShown } from './to-feed.ts'

/** What a sandbox costs, in whatever money. */
export interface FeedPrices {
  readonly perSandboxSecond: number
  readonly perCreate: number
  /** What the money is called. Default: nothing. */
  readonly currency?: string
}

/** Of `openFeed`. */
export interface FeedOptions {
  readonly clock?: Clock
  /** Without them nobody is told a cost. */
  readonly prices?: FeedPrices
}

/** What a feed reads of its job. */
export type WatchedJob = Pick<Job, 'jobId' | 'name' | 'settings' | 'snapshot' | 'live' | 'earlierGroups'>

/** The feed of a job that this process runs. */
export interface LiveFeed extends Feed {
  /** Tells watchers that the job is over. What is known stays, and can be watched until `close`. */
  over(): void
}

/** Rollouts under way that are listed at most. */
const MOST_LIVE = 1_024
/** So many a second are listed at most: 256 with every tick, 1,024 once a second. */
const LIVE_A_SECOND = 1_024

/**
 * The bounded state of a job from now on: open it before the job's first run. It always listens to the job's channels, so that a newcomer is told what was before;
 * threads are asked who is in which phase only while somebody watches.
 */
export function openFeed(job: WatchedJob, { clock = systemClock, prices }: FeedOptions = {}): LiveFeed {
  const book = makeFeedBook(toFeedJob(job))
  const rate = makeRate()
  let step: number | null = null
  let phases: LiveList['phases'] | undefined
  let askLiveAt = Number.NEGATIVE_INFINITY

  function now(): FeedNow {
    const snapshot = job.snapshot()
    return {
      snapshot: toShownSnapshot(snapshot),
      rate: rate.at(clock.wallTime()),
      hitRate: toHitRate(snapshot),
      cost: toCost(snapshot, prices),
      step,
      ...(phases === undefined ? {} : { phases }),
    }
  }

  async function refresh(): Promise<void> {
    const at = clock.now()
    if (at < askLiveAt || book.job.source === 'over') return
    // An engine that is being closed answers nobody: what was known is shown until it is over.
    const list = await job.live(MOST_LIVE).catch(() => undefined)
    if (list === undefined) return
    phases = list.phases
    book.setLive(list.rollouts)
    // A little early rather than a tick late.
    askLiveAt = at + (list.rollouts.length / LIVE_A_SECOND) * 1_000 - 10
  }

  function tellProblem(kind: string, { tag, message }: ErrorData): void {
    book.problems.add({ at: clock.wallTime(), kind, tag, message: toShown(message, { hide }) })
  }

  const feed = makeFeed({ clock, book, now, refresh })
  const stopListening = listenToJob(job.jobId, {
    engine(event) {
      if (event.type === 'closed') return
      const { runtime, threads, maxConcurrent } = event
      book.job = { ...book.job, runtime, threads, maxConcurrent }
      feed.restate()
    },
    workers: event => book.setWorkers(toFeedWorkers(event)),
    run(header) {
      rate.add(clock.wallTime())
      const run = toFeedRun(header, { hide })
      book.runs.add(run)
      book.failures.add(run, header.error?.tag)
    },
    group: group => book.groups.add(toFeedGroup(group, clock.wallTime())),
    training(event) {
      if (event.type === 'step-began') step = event.step
      writeTraining(book, event, clock)
    },
    problem: tellProblem,
  })

  /** What an earlier process has made of the job stands before what this one has told meanwhile. */
  async function recall(): Promise<void> {
    const earlier = await readEarlier(job)
    if (earlier.runs.length === 0) return
    const [runs, groups] = [book.runs.all(), book.groups.all()]
    book.runs.clear()
    book.groups.clear()
    for (const { run, tag } of earlier.runs) {
      book.runs.add(run)
      book.failures.add(run, tag)
    }
    for (const group of earlier.groups) book.groups.add(group)
    for (const run of runs) book.runs.add(run)
    for (const group of groups) book.groups.add(group)
    feed.restate()
  }

  recall().catch(error => tellProblem('journal', toErrorData(error)))

  return {
    ...feed,
    over() {
      phases = undefined
      book.setLive([])
      book.setSource('over')
      feed.flush()
    },
    close() {
      stopListening()
      return feed.close()
    },
  }
}

function toFeedJob(job: WatchedJob): FeedBook['job'] {
  return {
    jobId: job.jobId,
    name: job.name,
    version: readVersion(),
    source: 'live',
    runtime: null,
    threads: null,
    maxConcurrent: null,
    settings: toShownSettings(job.settings),
    startedAt: job.snapshot().startedAt,
  }
}

/** Settings without secrets. */
export function toShownSettings(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, hideInValue(value)]))
}

function writeTraining(book: FeedBook, event: TrainingEvent, clock: Clock): void {
  switch (event.type) {
    case 'resumed':
      for (const record of event.history.steps) book.steps.add(record)
      for (const record of event.history.evaluations) book.evaluations.add(record)
      return
    case 'chunk-trained': {
      const { step, call, consumed, dropped, datums, loss, tookMs, error } = event
      book.chunks.add({
        step,
        call,
        groups: consumed,
        dropped: dropped.map(({ groupId }) => groupId),
        datums,
        loss,
        tookMs,
        endedAt: clock.wallTime(),
        ...(error === null ? {} : { error: toShown(error.message, { hide }) }),
      })
      return
    }
    case 'step-ended':
      book.steps.add(event.record)
      return
    case 'evaluated':
      book.evaluations.add(event.record)
      return
    case 'step-began':
    case 'rolled-back':
    case 'adopted':
    case 'stopped':
      return
  }
}

/** Errors of the pool may say what nobody is to read. */
function toShownSnapshot(snapshot: JobSnapshot): JobSnapshot {
  const { pool } = snapshot
  if (pool === undefined || (pool.breaker === undefined && pool.sourceError === undefined)) return snapshot
  const { breaker, sourceError } = pool
  return {
    ...snapshot,
    pool: {
      ...pool,
      breaker: breaker === undefined ? undefined : hideInError(breaker),
      ...(sourceError === undefined ? {} : { sourceError: hideInError(sourceError) }),
    },
  }
}

function toHitRate({ pool }: JobSnapshot): number | null {
  if (pool === undefined) return null
  const leases = Object.values(pool.leases).reduce((sum, count) => sum + count, 0)
  return leases === 0 ? null : pool.leases.hit / leases
}

function toCost({ pool, sandboxMs }: JobSnapshot, prices: FeedPrices | undefined): FeedNow['cost'] {
  if (prices === undefined) return null
  const amount = (prices.perSandboxSecond * sandboxMs) / 1_000 + prices.perCreate * (pool?.created ?? 0)
  return { amount, currency: prices.currency ?? '' }
}

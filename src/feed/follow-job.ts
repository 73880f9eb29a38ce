import { stat } from 'node:fs/promises'
import { type Clock, sleep, systemClock } from '../clock.ts'
import { TroupeError, toErrorData } from '../errors.ts'
import type { JobRecord } from '../journal/journal.ts'
import type { LmdbJournal } from '../journal/lmdb-journal.ts'
import { hide } from '../redact.ts'
import { readVersion } from '../version.ts'
import { makeFeedBook } from './book.ts'
import { saysOver } from './client.ts'
import { connectFeed } from './connect.ts'
import { type Feed, makeFeed } from './feed.ts'
import { makeJournalEntries } from './journal-entries.ts'
import type { FeedMessage, FeedNow } from './messages.ts'
import { toShownSettings } from './open-feed.ts'
import { makeRate } from './rate.ts'
import { applyTick, loadState } from './relay.ts'
import { feedSocketPath } from './socket.ts'
import { toShown } from './to-feed.ts'

export interface FollowJobOptions {
  readonly journal: LmdbJournal
  readonly job: JobRecord
  readonly clock?: Clock
  /** Between two looks at the journal. Default 500. */
  readonly pollMs?: number
}

const POLL_MS = 500
/** Of the time at most one part in so many is spent on reading. */
const POLL_SHARE = 10
/** A job that is over may be gone on with. */
const POLL_OVER_MS = 2_000
/** Until a socket that did not answer, or has another job, is tried again. */
const TRY_AGAIN_MS = 5_000

/**
 * The feed of a job that another process runs, or has run: while it runs and serves its own, that one; else what its journal has, and what is committed to it. Nothing is read
 * while nobody watches. The journal stays the caller's to close, after the feed.
 */
export function followJob({ journal, job, clock = systemClock, pollMs = POLL_MS }: FollowJobOptions): Feed {
  const book = makeFeedBook({
    jobId: job.jobId,
    name: job.name,
    version: readVersion(),
    source: 'followed',
    runtime: null,
    threads: null,
    maxConcurrent: null,
    settings: toShownSettings(job.settings),
    startedAt: job.startedAt,
  })
  const rate = makeRate()
  const entries = makeJournalEntries({ journal, job, clock }, book, rate)
  const socket = feedSocketPath(journal.location)
  /** What the engine itself told last. */
  let told: FeedNow | undefined
  let isRelayed = false
  /** The journal has got longer while it was followed. */
  let hasGrown = false
  let leaving: AbortController | undefined
  let following: Promise<void> = Promise.resolve()

  function now(): FeedNow {
    if (told !== undefined && isRelayed) return told
    const isOver = book.job.source === 'over'
    const { snapshot = null, hitRate = null, cost = null } = (isOver ? told : undefined) ?? {}
    return { snapshot, rate: rate.at(clock.wallTime()), hitRate, cost, step: entries.step(isOver) }
  }

  const feed = makeFeed({
    clock,
    book,
    now,
    begin() {
      const controller = new AbortController()
      leaving = controller
      return new Promise(resolve => {
        following = follow(controller.signal, resolve)
      })
    },
    async end() {
      leaving?.abort()
      await following
    },
  })

  async function follow(signal: AbortSignal, ready: () => void): Promise<void> {
    let retryAt = { key: '', at: 0 }
    while (!signal.aborted) {
      const key = await socketKey(socket)
      if (key !== undefined && (key !== retryAt.key || clock.now() >= retryAt.at)) {
        const wasLive = await relay(signal, ready)
        if (!wasLive) retryAt = { key, at: clock.now() + TRY_AGAIN_MS }
        if (signal.aborted) break
      }
      const startedAt = clock.now()
      await look()
      ready()
      const usual = book.job.source === 'over' ? Math.max(POLL_OVER_MS, pollMs) : pollMs
      await sleep(clock, Math.max(usual, (clock.now() - startedAt) * POLL_SHARE), signal).catch(() => {}) // Aborted: the loop ends.
    }
    ready()
  }

  /** As long as the engine tells of this job itself. False where it does not. */
  async function relay(signal: AbortSignal, ready: () => void): Promise<boolean> {
    let isOver = false
    try {
      for await (const message of connectFeed(socket, clock, signal)) {
        if (!isRelayed && !isOurs(message)) return false
        told = message.now
        isOver = saysOver(message) ?? isOver
        if (message.type === 'state') loadState(book, message)
        else applyTick(book, message)
        if (message.type === 'tick') continue
        isRelayed = true
        ready()
        feed.restate()
      }
    } catch (error) {
      // An engine that has ended, or hangs: the journal says what became of the job.
      if (!(error instanceof TroupeError)) tellProblem('feed', error)
    }
    if (!isRelayed) return false
    isRelayed = false
    if (!isOver) told = undefined
    const problems = book.problems.all()
    entries.forget()
    book.clear()
    book.job = { ...book.job, source: 'followed' }
    for (const problem of problems) book.problems.add(problem)
    await look()
    feed.restate()
    return true
  }

  function isOurs(message: FeedMessage): boolean {
    return message.type === 'state' && message.job.jobId === job.jobId && message.job.version === readVersion()
  }

  async function look(): Promise<void> {
    try {
      const isFirst = !hasGrown && book.runs.all().length === 0
      const isNew = await entries.read()
      hasGrown ||= isNew && !isFirst
      book.setSource((await isRunning()) ? 'followed' : 'over')
    } catch (error) {
      tellProblem('journal', error)
    }
  }

  function tellProblem(kind: string, error: unknown): void {
    const { tag, message } = toErrorData(error)
    book.problems.add({ at: clock.wallTime(), kind, tag, message: toShown(message, { hide }) })
  }

  /** Whoever holds the journal runs its newest job, or goes on with an older one. */
  async function isRunning(): Promise<boolean> {
    if (journal.news.holder() === undefined) return false
    if (hasGrown) return true
    const newest = (await journal.jobs()).at(-1)
    return newest?.jobId === job.jobId
  }

  return feed
}

/** Another one for each socket that is made there; undefined where there is none. */
async function socketKey(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined) // Whatever the reason, nobody is to be reached there.
  return found === undefined ? undefined : `${found.ino}:${found.ctimeMs}`
}

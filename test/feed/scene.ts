import { request } from 'node:http'
import type { Feed, Told } from '../../src/feed/feed.ts'
import type { FeedJob, FeedMessage, FeedNow, FeedRun, FeedState, FeedTick } from '../../src/feed/messages.ts'
import { makeEventParser, parseFeedMessage } from '../../src/feed/parse.ts'

/** A job that nothing is known of but that it runs here. */
export const JOB: FeedJob = {
  jobId: 'job-1',
  name: 'calc',
  version: '0',
  source: 'live',
  runtime: null,
  threads: null,
  maxConcurrent: null,
  settings: {},
  startedAt: 0,
}

/** Figures that nobody has. */
export const NOW: FeedNow = { snapshot: null, rate: 0, hitRate: null, cost: null, step: null }

export function runOf(given: Partial<FeedRun> = {}): FeedRun {
  return {
    runId: 'run-1',
    groupId: 'group-1',
    slug: 'repair-3',
    step: 0,
    member: 0,
    attempt: 1,
    outcome: 'graded',
    reward: 1,
    stopReason: 'done',
    lease: 'hit',
    timings: { agent: 12 },
    startedAt: 1_700_000_000_000,
    endedAt: 1_700_000_001_000,
    ...given,
  }
}

/** What a watcher was told, and how it leaves. */
export interface Watcher {
  readonly told: Told[]
  readonly messages: FeedMessage[]
  again(): void
  stop(): void
}

export function watch(feed: Feed): Watcher {
  const told: Told[] = []
  const messages: FeedMessage[] = []
  const held = feed.watch(each => {
    told.push(each)
    messages.push(each.message)
  })
  return { told, messages, again: held.again, stop: held.stop }
}

export const statesOf = (messages: readonly FeedMessage[]): readonly FeedState[] =>
  messages.flatMap(message => (message.type === 'state' ? [message] : []))

export const ticksOf = (messages: readonly FeedMessage[]): readonly FeedTick[] =>
  messages.flatMap(message => (message.type === 'tick' ? [message] : []))

/** Every run that a reader of these messages knows at the end, by id. */
export function runsOf(messages: readonly FeedMessage[]): ReadonlyMap<string, FeedRun> {
  const runs = new Map<string, FeedRun>()
  for (const message of messages) {
    if (message.type === 'state') runs.clear()
    for (const run of message.runs ?? []) {
      if (runs.has(run.runId)) throw new Error(`${run.runId} was told twice`)
      runs.set(run.runId, run)
    }
  }
  return runs
}

/** Resolves once `is` is true; looked at whenever the event loop turns, and bounded by the test's own limit. */
export async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise(resolve => setTimeout(resolve, 5))
}

/** Resolves with what is looked for, as soon as a message has it. */
export async function firstOf<Found>(
  messages: AsyncIterable<FeedMessage>,
  pick: (message: FeedMessage) => Found | undefined,
): Promise<Found> {
  for await (const message of messages) {
    const found = pick(message)
    if (found !== undefined) return found
  }
  throw new Error('the feed ended before')
}

/** A reader of server-sent events that can stop reading. */
export interface EventReader {
  readonly status: Promise<number>
  readonly messages: FeedMessage[]
  readonly bytes: () => number
  readonly comments: () => number
  pause(): void
  resume(): void
  close(): void
  readonly closed: Promise<void>
}

export function readEvents(
  url: string,
  {
    headers = {},
    socketPath,
  }: { readonly headers?: Readonly<Record<string, string>>; readonly socketPath?: string } = {},
): EventReader {
  const messages: FeedMessage[] = []
  const parser = makeEventParser()
  let bytes = 0
  let comments = 0
  let respond: (status: number) => void = () => {}
  let end: () => void = () => {}
  const status = new Promise<number>(resolve => {
    respond = resolve
  })
  const closed = new Promise<void>(resolve => {
    end = resolve
  })
  const at = new URL(url)
  const asked = request({
    ...(socketPath === undefined ? { host: at.hostname, port: at.port } : { socketPath }),
    path: `${at.pathname}${at.search}`,
    headers: { ...headers },
    agent: false,
  })
  let hold: { pause(): void; resume(): void } | undefined
  asked.on('response', response => {
    hold = response
    respond(response.statusCode ?? 0)
    response.setEncoding('utf8').on('data', (text: string) => {
      bytes += text.length
      comments += text.startsWith(':') ? 1 : 0
      for (const data of parser.push(text)) {
        const message = parseFeedMessage(data)
        if (message !== undefined) messages.push(message)
      }
    })
    response.on('error', () => {}) // Cut by whichever side: `closed` tells.
    response.on('close', end)
  })
  asked.on('error', () => end())
  asked.end()
  return {
    status,
    messages,
    bytes: () => bytes,
    comments: () => comments,
    pause: () => hold?.pause(),
    resume: () => hold?.resume(),
    close: () => asked.destroy(),
    closed,
  }
}

import { stat } from 'node:fs/promises'
import { ReadStream } from 'node:tty'
import pc from 'picocolors'
import { followJournal, openFeedClient, readFeed } from '../feed/index.ts'
import type { FeedMessage, FeedState } from '../feed/messages.ts'
import { makeKnown, nothingTold, type Paint, renderTop, showTop } from '../top/index.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import type { TopArguments } from './commands/top.ts'
import { conflictingOptions, noJournal, notAnAddress } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { findJob } from './journal-reader.ts'

/** Messages until the signal aborts, and what is to be closed behind them. */
interface Source {
  messages(signal: AbortSignal): AsyncIterable<FeedMessage>
  close(): Promise<void>
}

/** `troupe top`. Throws where there is nothing to show. */
export async function runTop(where: string, options: TopArguments, cli: Cli): Promise<void> {
  const { console, clock } = cli
  await using opened = closing(await openSource(where, options, cli))
  const source = opened.value
  const { stdout } = console
  if (options.json === true || options.once === true || !('isTTY' in stdout) || stdout.isTTY !== true) {
    const state = await readOnce(source)
    await console.print(options.json === true ? JSON.stringify(state) : toSnapshot(state, cli))
    return
  }
  // What is watched goes on, whatever ends the watching.
  const interrupt = armInterrupt({ onFirst: () => {}, onSecond: () => process.exit(EXIT.interrupted) })
  const { stdin } = process
  try {
    await showTop(source.messages, {
      clock,
      terminal: stdout,
      keyboard: stdin instanceof ReadStream && stdin.isTTY ? stdin : undefined,
      paint: toPaint(cli),
      signal: interrupt.signal,
    })
    if (interrupt.signal.aborted) cli.exitWith(EXIT.interrupted)
  } finally {
    interrupt.disarm()
  }
}

async function openSource(where: string, { job }: TopArguments, { clock }: Cli): Promise<Source> {
  if (/^https?:/i.test(where)) {
    if (job !== undefined)
      throw conflictingOptions('--job', 'an address', 'what answers there tells of its own job alone')
    if (!URL.canParse(where)) throw notAnAddress(where)
    const url = new URL(where)
    return { messages: signal => openFeedClient(url, { clock, signal }), async close() {} }
  }
  const found = await stat(where).catch(() => undefined) // whatever the reason, there is none to read
  if (found === undefined) throw noJournal(where)
  const feed = await followJournal(where, {
    clock,
    ...(job === undefined ? {} : { pick: journal => findJob(journal, job) }),
  })
  return { messages: signal => readFeed(feed, signal), close: () => feed.close() }
}

/** Threads are asked who is under way once somebody watches: that comes with a message soon after the first. */
const MOST_MESSAGES = 4

async function readOnce(source: Source): Promise<FeedState> {
  const enough = new AbortController()
  const known = makeKnown()
  let count = 0
  try {
    for await (const message of source.messages(enough.signal)) {
      known.receive(message)
      count += 1
      const state = known.state()
      if (state !== undefined && (hasAll(state) || count >= MOST_MESSAGES)) return state
    }
  } finally {
    enough.abort()
  }
  throw nothingTold()
}

function hasAll({ job, live, now: { snapshot } }: FeedState): boolean {
  return job.source !== 'live' || live.length > 0 || snapshot === null || snapshot.creditsInUse === 0
}

/** All there is, as wide as the terminal, or as lines may well be. */
function toSnapshot(state: FeedState, { console }: Cli): string {
  const { stdout } = console
  const columns = 'columns' in stdout && typeof stdout.columns === 'number' ? stdout.columns : PIPED_COLUMNS
  return renderTop(state, { columns, rows: Number.POSITIVE_INFINITY })
}

const PIPED_COLUMNS = 120

function toPaint({ console }: Cli): Paint {
  const colours = pc.createColors(console.colours)
  return { strong: colours.bold, faint: colours.dim }
}

import { bounded } from '../../bounded.ts'
import type { Clock } from '../../clock.ts'
import { type Hider, makeHider } from '../../redact.ts'
import type { AppendFile } from './append-file.ts'
import type { JobEvent } from './job-event.ts'

/** Takes events at any pace, and writes them when it can. */
export interface EventLog {
  /** Returns at once, whatever the disk does: what does not fit is dropped, and counted in a line of the file. */
  append(event: JobEvent): void
  /** Events that are not in the file and will not be. */
  readonly dropped: number
  /** Writes what waits, and closes the file. Waits no longer than `closeMs`, and never rejects. Twice is once. */
  close(): Promise<void>
}

/** What a log is made of. */
export interface EventLogPorts {
  readonly file: AppendFile
  /** Left out of the lines where there is none. */
  readonly job?: string
  readonly clock: Clock
  /** Events that may wait: some kilobytes each at most. Default 8,192. */
  readonly capacity?: number
  /** How long the end waits for what is not written yet. Default 5,000; `null`: as long as it takes, for a reader who may be slow and must have all of it. */
  readonly closeMs?: number | null
  /** The first time that the file could not be written; the log goes on trying. */
  readonly onFailed: (error: unknown) => void
  /** The end was not waited for any longer, and so many events are missing. */
  readonly onLate: (waitedMs: number, missing: number) => void
}

interface Waiting {
  readonly at: number
  readonly event: JobEvent
}

const CAPACITY = 8_192
const BATCH = 256
const CLOSE_MS = 5_000

/** One line an event, `{ at, type, job, … }`, in the order in which they came, without secrets. One write is under way at a time. */
export function makeEventLog(ports: EventLogPorts): EventLog {
  const { file, job, clock, capacity = CAPACITY, closeMs = CLOSE_MS } = ports
  let waiting: Waiting[] = []
  let dropped = 0
  /** Dropped, and no line says so yet. */
  let untold = 0
  /** Events that the disk has been given and has not answered for. */
  let inFlight = 0
  let isLate = false
  let hasFailed = false
  let writing: Promise<void> | undefined
  let closing: Promise<void> | undefined

  function drop(count: number): void {
    dropped += count
    untold += count
  }

  async function writeAll(): Promise<void> {
    try {
      await writeBatches()
    } finally {
      // At once, not a turn later: an event that comes in between would wait for the next one.
      writing = undefined
    }
  }

  async function writeBatches(): Promise<void> {
    while (waiting.length > 0 || untold > 0) {
      // What comes in the same turn of the loop is one write.
      await new Promise(resolve => setImmediate(resolve))
      const batch = waiting.slice(0, BATCH)
      waiting = waiting.slice(BATCH)
      const told = untold
      const notice: JobEvent = { type: 'events-dropped', count: told }
      const hider = makeHider()
      const lines = [...(told > 0 ? [{ at: clock.wallTime(), event: notice }] : []), ...batch].map(each =>
        toLine(each, job, hider),
      )
      inFlight = batch.length
      const { written, error } = await file.append(lines)
      inFlight = 0
      if (told > 0 && written > 0) untold -= told
      drop(lines.length - written - (told > 0 && written === 0 ? 1 : 0))
      if (error === undefined) continue
      if (!hasFailed) ports.onFailed(error)
      hasFailed = true
      // With nothing else to write, the next event or the end tries again to say what is missing.
      if (waiting.length === 0) return
    }
  }

  async function write(): Promise<void> {
    if (waiting.length === 0 && untold === 0) return
    writing ??= writeAll()
    await writing
  }

  async function end(): Promise<void> {
    const finish = async () => {
      // One that is under way may have given up on a failure: what is left is tried once more.
      await writing
      await write()
      await file.close()
    }
    if (closeMs === null) return finish().catch(ports.onFailed)
    const ended = await bounded(clock, closeMs, finish)
    if (ended.kind === 'late') giveUp(closeMs)
    else if (ended.kind === 'failed') ports.onFailed(ended.error)
  }

  /** What waits is not going to be written. Of what the disk has nobody knows: it counts as missing until the disk says otherwise. */
  function giveUp(waitedMs: number): void {
    isLate = true
    const late = waiting.length + inFlight
    drop(waiting.length)
    waiting = []
    ports.onLate(waitedMs, late)
  }

  return {
    append(event) {
      if (closing !== undefined) return
      if (waiting.length >= capacity) drop(1)
      else waiting.push({ at: clock.wallTime(), event })
      void write()
    },
    get dropped() {
      return dropped + (isLate ? inFlight : 0)
    },
    close() {
      closing ??= end()
      return closing
    },
  }
}

/** `at`, `type` and `job` first: what a line is about is seen where it begins. */
function toLine({ at, event }: Waiting, job: string | undefined, hider: Hider): string {
  const { type, ...fields } = event
  const whose = job === undefined ? {} : { job }
  return JSON.stringify(hider.hideInValue({ at: new Date(at).toISOString(), type, ...whose, ...fields }))
}

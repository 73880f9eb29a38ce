import type { Clock } from '../src/clock.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { KnownWorker } from '../src/telemetry/channels.ts'
import type { DeskMessage, WorkerLoad, WorkerNote } from './cluster-messages.ts'

/** A worker of the job, and when it was last heard of. */
interface Worker {
  readonly note: WorkerNote
  readonly desk: Ref<DeskMessage>
  readonly since: number
  credits: number
  load: WorkerLoad
  heardAt: number
  /** What it had told of its runs within the last `RATE_MS`, oldest first. */
  readonly told: { readonly at: number; readonly runs: number }[]
}

/** One that is here no more. */
interface Past {
  readonly worker: Worker
  readonly state: 'lost' | 'left'
  readonly goneAt: number
}

/** What is asked of the book for people who look. */
export interface BookView {
  readonly clock: Clock
  /** One that is silent for so long is told to be. */
  readonly silentMs: number
  /** So long after its last sign of life others have a worker's groups. */
  readonly redeliverMs: number
  /** As the worker's desk has told it last. */
  readonly sandboxesOf: (address: string) => number | null
}

/** Who works for a job, and who did so shortly before. */
export interface WorkerBook {
  /** Rollouts that all of them together may have. */
  readonly credits: number
  readonly size: number
  add(note: WorkerNote, load: WorkerLoad, desk: Ref<DeskMessage>, now: number): void
  beat(node: string, credits: number, load: WorkerLoad, now: number): void
  /** Takes the one with this desk among those that are gone, and tells what it said of itself. */
  gone(address: string, state: Past['state'], now: number): WorkerNote | undefined
  /** Whether one of that owner works. */
  hasOwner(owner: string): boolean
  silent(now: number, silenceMs: number): readonly { readonly node: string; readonly silentMs: number }[]
  desks(): readonly Ref<DeskMessage>[]
  /** Those that are there, by node, and then those that are gone, the last first. */
  known(view: BookView): readonly KnownWorker[]
}

const RATE_MS = 10_000
/** Those that are gone are told of for so long, and so many of them. */
const PAST_MS = 600_000
const MOST_PAST = 100

export function makeWorkerBook(): WorkerBook {
  const workers = new Map<string, Worker>()
  let past: Past[] = []

  function hear(worker: Worker, now: number): void {
    worker.heardAt = now
    worker.told.push({ at: now, runs: worker.load.runs })
    while (now - (worker.told[0]?.at ?? now) > RATE_MS) worker.told.shift()
  }

  return {
    get credits() {
      let sum = 0
      for (const { credits } of workers.values()) sum += credits
      return sum
    },
    get size() {
      return workers.size
    },
    add(note, load, desk, now) {
      const { credits } = note
      const worker: Worker = { note, desk, credits, load, since: now, heardAt: now, told: [] }
      workers.set(note.node, worker)
      past = past.filter(each => each.worker.note.node !== note.node)
      hear(worker, now)
    },
    beat(node, credits, load, now) {
      const worker = workers.get(node)
      if (worker === undefined) return
      worker.credits = credits
      worker.load = load
      hear(worker, now)
    },
    gone(address, state, now) {
      for (const [node, worker] of workers)
        if (worker.desk.address === address) {
          workers.delete(node)
          past = [{ worker, state, goneAt: now }, ...past.slice(0, MOST_PAST - 1)]
          return worker.note
        }
      return undefined
    },
    hasOwner: owner => [...workers.values()].some(({ note }) => note.owner === owner),
    silent: (now, silenceMs) =>
      [...workers].flatMap(([node, { heardAt }]) =>
        now - heardAt > silenceMs ? [{ node, silentMs: now - heardAt }] : [],
      ),
    desks: () => [...workers.values()].map(({ desk }) => desk),
    known(view) {
      const now = view.clock.now()
      past = past.filter(({ goneAt }) => now - goneAt <= PAST_MS)
      const here = [...workers.values()].map(worker => toKnown(worker, view)).sort(byNode)
      return [...here, ...past.map(each => toGone(each, view))]
    },
  }
}

const byNode = (one: KnownWorker, other: KnownWorker) => (one.node < other.node ? -1 : 1)

function toKnown(worker: Worker, { clock, silentMs, sandboxesOf }: BookView): KnownWorker {
  const { note, credits, load, since, heardAt, told, desk } = worker
  const now = clock.now()
  const toWall = (at: number) => Math.round(clock.wallTime() - (now - at))
  const [first, last] = [told[0], told.at(-1)]
  const spanMs = first === undefined || last === undefined ? 0 : last.at - first.at
  const isSilent = now - heardAt > silentMs
  return {
    node: note.node,
    host: note.host,
    state: isSilent ? 'silent' : load.isDraining ? 'draining' : 'joined',
    rollouts: load.rollouts,
    credits,
    groups: load.groups,
    runs: load.runs,
    rate: spanMs === 0 ? 0 : (((last?.runs ?? 0) - (first?.runs ?? 0)) / spanMs) * 1_000,
    sandboxes: sandboxesOf(desk.address),
    since: toWall(since),
    heardAt: toWall(heardAt),
  }
}

/** With what it had when it was last heard of. */
function toGone({ worker, state, goneAt }: Past, view: BookView): KnownWorker {
  const last = toKnown(worker, view)
  const toWall = last.heardAt - worker.heardAt
  const othersAt = state === 'lost' ? { othersAt: last.heardAt + view.redeliverMs } : {}
  return { ...last, state, rate: 0, sandboxes: null, goneAt: Math.round(goneAt + toWall), ...othersAt }
}

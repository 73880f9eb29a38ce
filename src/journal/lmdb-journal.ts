import type { Database } from 'lmdb'
import { type Clock, sleep } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import type { GroupId, JobId, RunId } from '../ids.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { DurableRun, RunHeader } from '../rollout/run.ts'
import { checksumOf, decode, encode, type RunPlace, toGroupKey, toRunKey, toTrajectory } from './codec.ts'
import { journalClosed, journalDamaged, journalReadOnly, unknownGroup, unknownRun } from './errors.ts'
import type { Gate } from './gate.ts'
import type { Consumption, JobRecord, Journal, JournalSpec, KeptRecord, LedgerEntry } from './journal.ts'
import { type Commits, makeCommits, type Write } from './lmdb-commits.ts'
import { type JournalNews, makeNews } from './lmdb-news.ts'
import { closeAlone, type GatedStore, openStore, releaseOwnership, type Store } from './lmdb-store.ts'

export interface LmdbJournalOptions {
  readonly directory: string
  readonly clock: Clock
  /** Reads beside a live owner, and creates nothing. */
  readonly readOnly?: boolean
  /** A `thread` writes into the journal that its process's `owner` holds, and gives nothing up when it closes. */
  readonly role: 'owner' | 'thread'
  /** Space to leave on the disk: below it, writes are refused with `journal-disk-full`. Default 128 MiB. */
  readonly minFreeBytes?: number
}

/** A journal that threads can open too. */
export interface LmdbJournal extends Journal {
  readonly spec: JournalSpec
  /** What somebody else has committed meanwhile. */
  readonly news: JournalNews
}

/**
 * Opens a journal in a directory, which is made when the owner finds none. A record is acknowledged when lmdb has committed it:
 * it then survives the end of the process, however hard; lmdb flushes to the disk right after, and `close` waits for that.
 * Writes share commits, so put many before awaiting any. Throws `journal-held` (naming the live owner), `journal-version`,
 * `journal-missing`, `journal-damaged`, `journal-busy` and `journal-unusable`; reads throw `journal-damaged` for what is not what was put, and writes reject with `journal-disk-full` or `journal-write-failed`.
 */
export async function openLmdbJournal(options: LmdbJournalOptions): Promise<LmdbJournal> {
  const { directory, clock, readOnly = false, role } = options
  return new LmdbBackedJournal(await openStore(directory, readOnly ? 'reader' : role, clock), options)
}

/** A group's state in the ledger is its version there. */
const STATE: Record<Consumption, number> = { pending: 1, consumed: 2, dropped: 3 }
/** Rows read at once: bounds both memory and how long old pages are kept for a slow reader. */
const PAGE_ROWS = 256
const CLOSE_AFTER_FAILURE_MS = 2_000
const MIN_FREE_BYTES = 128 * 2 ** 20

class LmdbBackedJournal implements LmdbJournal {
  readonly location: string
  readonly spec: JournalSpec
  readonly news: JournalNews
  readonly #store: Store
  readonly #gate: Gate
  readonly #clock: Clock
  readonly #commits: Commits
  readonly #isOwner: boolean
  readonly #isReadOnly: boolean
  #closing: Promise<void> | undefined

  constructor({ store, gate }: GatedStore, options: LmdbJournalOptions) {
    const { directory, clock, role, readOnly = false, minFreeBytes = MIN_FREE_BYTES } = options
    this.location = directory
    this.spec = { kind: 'lmdb', directory }
    this.#store = store
    this.#gate = gate
    this.#clock = clock
    const refresh = () => store.root.resetReadTxn()
    this.#commits = makeCommits({ location: directory, clock, gate, minFreeBytes, refresh })
    this.#isReadOnly = readOnly
    this.#isOwner = role === 'owner' && !readOnly
    this.news = makeNews(
      look => this.#read(look),
      runId => this.#findRun(runId),
    )
  }

  async putJob(job: JobRecord): Promise<void> {
    const put = () => this.#store.jobs.put(job.jobId, encode('job', job))
    await this.#commit({ bytes: 0, put, isWhole: () => this.#store.jobs.doesExist(job.jobId), repair: put })
  }

  async putRun(header: RunHeader, trajectory: Uint8Array): Promise<void> {
    const { runKeys, headers, trajectories } = this.#store
    const key = toRunKey(header)
    const place = encode('runPlace', { key, checksum: checksumOf(trajectory) })
    const putAll = () => {
      runKeys.put(header.runId, place)
      headers.put(key, encode('run', header))
      return trajectories.put(key, trajectory)
    }
    await this.#commit({
      bytes: trajectory.byteLength,
      put: () => runKeys.ifNoExists(header.runId, putAll),
      isWhole: () => this.#findRun(header.runId) !== undefined,
      repair: () => this.#store.root.batch(putAll),
    })
  }

  async putGroup(group: GroupRecord): Promise<void> {
    const { groups, ledger } = this.#store
    const { end } = group
    const key = toGroupKey(group)
    const ledgerKey: [string, string] = [group.jobId, group.groupId]
    const [state, entry] = end.type === 'dropped' ? [STATE.dropped, { reason: end.reason }] : [STATE.pending, {}]
    const putRecord = () => groups.put(key, encode('group', group))
    await this.#commit({
      bytes: 0,
      put: () =>
        ledger.ifNoExists(ledgerKey, () => {
          putRecord()
          ledger.put(ledgerKey, encode('ledger', entry), state)
        }),
      isWhole: () => ledger.doesExist(ledgerKey) && groups.doesExist(key),
      repair: putRecord,
    })
  }

  async settleGroup(
    jobId: JobId,
    groupId: GroupId,
    to: Exclude<Consumption, 'pending'>,
    reason?: string,
  ): Promise<boolean> {
    const key: [string, string] = [jobId, groupId]
    const entry = encode('ledger', reason === undefined ? {} : { reason })
    const put = () => this.#store.ledger.put(key, entry, STATE[to], STATE.pending)
    const isWhole = () => this.#store.ledger.getEntry(key)?.version !== STATE.pending
    const isMoved = await this.#commit({ bytes: 0, put, isWhole, repair: put })
    if (!isMoved && !this.#store.ledger.doesExist(key)) throw unknownGroup(this.location, jobId, groupId)
    return isMoved
  }

  async putRecord(jobId: JobId, key: string, value: unknown): Promise<void> {
    const { records } = this.#store
    const place: [string, string] = [jobId, key]
    const bytes = encode('record', value)
    // Only a reader may lack the database, and a reader's commit is refused.
    const put = async () => (await records?.put(place, bytes)) ?? false
    // Which value is there is not compared: of two puts that share a commit the first would seem lost.
    const isWhole = () => records?.doesExist(place) ?? false
    await this.#commit({ bytes: bytes.byteLength, put, isWhole, repair: put })
  }

  async jobs(): Promise<readonly JobRecord[]> {
    const jobs = this.#read(({ jobs }) => [...jobs.getRange()].map(({ value }) => decode('job', value)))
    return jobs.sort((a, b) => a.startedAt - b.startedAt)
  }

  async run(runId: RunId): Promise<DurableRun | undefined> {
    return this.#read(({ headers, trajectories }) => {
      const place = this.#findRun(runId)
      const header = place && headers.get(place.key)
      const trajectory = place && trajectories.get(place.key)
      if (place === undefined || header === undefined || trajectory === undefined) return undefined
      return { header: decode('run', header), trajectory: toTrajectory(runId, trajectory, place) }
    })
  }

  trajectory(runId: RunId): Uint8Array {
    return this.#read(({ trajectories }) => {
      const place = this.#findRun(runId)
      const found = place && trajectories.get(place.key)
      if (place === undefined || found === undefined) throw unknownRun(this.location, runId)
      return toTrajectory(runId, found, place)
    })
  }

  async *runs(jobId: JobId): AsyncGenerator<RunHeader> {
    for (const { value } of this.#rows(jobId, store => store.headers)) {
      const header = this.#read(() => {
        const run = decode('run', value)
        return this.#findRun(run.runId) === undefined ? undefined : run
      })
      if (header !== undefined) yield header
    }
  }

  async *groups(jobId: JobId): AsyncGenerator<GroupRecord & LedgerEntry> {
    for (const { value } of this.#rows(jobId, store => store.groups)) {
      const group = this.#read(({ ledger }) => {
        const record = decode('group', value)
        const entry = ledger.getEntry([jobId, record.groupId])
        return entry && { ...record, consumption: toConsumption(entry.version), ...decode('ledger', entry.value) }
      })
      if (group !== undefined) yield group
    }
  }

  async *records(jobId: JobId, prefix: string): AsyncGenerator<KeptRecord> {
    // Read whole before any is handed out: they are few, and the reader may write more meanwhile.
    yield* this.#read(({ records }) => {
      const rows = records?.getRange({ start: [jobId, prefix], end: [jobId, `${prefix}\uffff`] }) ?? []
      return [...rows].map(({ key, value }) => ({ key: key[1], value: decode('record', value) }))
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut()
    return this.#closing
  }

  async #shut(): Promise<void> {
    const { root } = this.#store
    await this.#commits.idle()
    const hasFailed = this.#commits.failure !== undefined
    if (!hasFailed && !this.#isReadOnly) await root.flushed
    if (this.#isOwner) this.#release()
    // After a failed commit lmdb may wait for ever for writes that will not come; the system closes the file with the process.
    if (hasFailed) await Promise.race([root.close(), sleep(this.#clock, CLOSE_AFTER_FAILURE_MS)])
    else await closeAlone(this.#store, this.#gate)
    this.#gate.close()
  }

  #release(): void {
    try {
      releaseOwnership(this.#store)
    } catch (error) {
      // Where nothing can be written the record stays, and counts for nothing once this process is gone.
      if (this.#commits.failure === undefined) throw error
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw journalClosed(this.location)
  }

  /** The databases as of now: without it, reads of one turn see what was committed when the turn's first read was made. */
  #fresh(): Store {
    this.#checkOpen()
    this.#store.root.resetReadTxn()
    return this.#store
  }

  /** What is wrong with the file is told as such, whether lmdb notices or we do. */
  #read<Value>(look: (store: Store) => Value): Value {
    const store = this.#fresh()
    try {
      return look(store)
    } catch (error) {
      if (error instanceof TroupeError && error.tag !== 'record-damaged') throw error
      throw journalDamaged(this.location, error)
    }
  }

  async #commit(write: Write): Promise<boolean> {
    this.#checkOpen()
    if (this.#isReadOnly) throw journalReadOnly(this.location)
    return this.#commits.commit(write)
  }

  /** Where a run is that is there with all its parts. */
  #findRun(runId: RunId): RunPlace | undefined {
    const { runKeys, headers, trajectories } = this.#store
    const bytes = runKeys.get(runId)
    const place = bytes && decode('runPlace', bytes)
    return place && headers.doesExist(place.key) && hasKey(trajectories, place.key) ? place : undefined
  }

  *#rows<Key extends [string, ...(string | number)[]]>(
    jobId: JobId,
    select: (store: Store) => Database<Uint8Array, Key>,
  ): Generator<{ readonly key: Key; readonly value: Uint8Array }> {
    let after: (string | number)[] = [jobId]
    for (;;) {
      const end = [jobId, Number.POSITIVE_INFINITY]
      const range = { start: after, exclusiveStart: true, end, limit: PAGE_ROWS }
      const page = this.#read(store => [...select(store).getRange(range)])
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_ROWS) return
      after = last.key
    }
  }
}

/** As `doesExist`, which copies the whole value to find out. */
function hasKey(database: Store['trajectories'], key: RunPlace['key']): boolean {
  for (const found of database.getKeys({ start: key, limit: 1 })) return found.at(-1) === key.at(-1)
  return false
}

function toConsumption(state: number | undefined): Consumption {
  if (state === STATE.consumed) return 'consumed'
  return state === STATE.dropped ? 'dropped' : 'pending'
}

import type { Database } from 'lmdb'
import { type GroupId, type JobId, type RunId, toGroupId, toRunId } from '../ids.ts'
import type { Owner } from '../owner.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import { decode, type RunPlace } from './codec.ts'
import { readHolder, type Store } from './lmdb-store.ts'

/** For whoever follows a journal that another process writes. */
export interface JournalNews {
  /** Grows with every commit, whoever makes it: as long as it stays, what is read again is the same. */
  version(): number
  /** Headers of a job's durable runs that `isSeen` does not know, in the order they were planned. Of the others only keys are read. */
  unseenRuns(jobId: JobId, isSeen: (runId: RunId) => boolean): Iterable<RunHeader>
  /** The same for groups that ended. */
  unseenGroups(jobId: JobId, isSeen: (groupId: GroupId) => boolean): Iterable<GroupRecord>
  /** The live process that holds the journal as its owner; undefined where nobody does. */
  holder(): Owner | undefined
}

/** Keys read at once. */
const PAGE_KEYS = 1_024

/** `read` gives the databases as of now, and words what is wrong with them. */
export function makeNews(
  read: <Value>(look: (store: Store) => Value) => Value,
  findRun: (runId: RunId) => RunPlace | undefined,
): JournalNews {
  function* keys<Key extends [string, ...(string | number)[]]>(
    jobId: JobId,
    select: (store: Store) => Database<Uint8Array, Key>,
  ): Generator<Key> {
    let after: (string | number)[] = [jobId]
    for (;;) {
      const range = { start: after, exclusiveStart: true, end: [jobId, Number.POSITIVE_INFINITY], limit: PAGE_KEYS }
      const page = read(store => [...select(store).getKeys(range)])
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_KEYS) return
      after = last
    }
  }

  return {
    version: () =>
      read(({ root }) => {
        const stats: unknown = root.getStats()
        const told = typeof stats === 'object' && stats !== null && 'lastTxnId' in stats ? stats.lastTxnId : undefined
        if (typeof told !== 'number') throw new Error('lmdb does not count its commits')
        return told
      }),
    *unseenRuns(jobId, isSeen) {
      for (const key of keys(jobId, store => store.headers)) {
        const runId = toRunId(key[4])
        if (isSeen(runId)) continue
        // A run that is not there with all its parts is none yet.
        const value = read(({ headers }) => findRun(runId) && headers.get(key))
        if (value !== undefined) yield read(() => decode('run', value))
      }
    },
    *unseenGroups(jobId, isSeen) {
      for (const key of keys(jobId, store => store.groups)) {
        if (isSeen(toGroupId(key[3]))) continue
        const value = read(({ groups }) => groups.get(key))
        if (value !== undefined) yield read(() => decode('group', value))
      }
    },
    holder: () => read(readHolder),
  }
}

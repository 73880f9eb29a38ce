import type { GroupId, JobId } from '../ids.ts'
import type { Consumption, Journal } from '../journal/journal.ts'

/** A job's own records, and the ledger of what became of its groups. Without a journal they end with the process. */
export interface JobRecords {
  /** Durable when it resolves, where there is a journal. Putting a key again replaces its value. */
  put(key: string, value: unknown): Promise<void>
  /** Keys that begin with `prefix` with their values, in the order of the keys. */
  list(prefix: string): Promise<ReadonlyMap<string, unknown>>
  /** Moves an ended group in the ledger; one that is settled already stays as it is. */
  settle(groupId: GroupId, to: Exclude<Consumption, 'pending'>, reason?: string): Promise<void>
}

export function makeJobRecords(jobId: JobId, journal: Journal | undefined): JobRecords {
  if (journal === undefined) return makeMemoryRecords()
  return {
    put: (key, value) => journal.putRecord(jobId, key, value),
    async list(prefix) {
      const found = new Map<string, unknown>()
      for await (const { key, value } of journal.records(jobId, prefix)) found.set(key, value)
      return found
    },
    settle: async (groupId, to, reason) => void (await journal.settleGroup(jobId, groupId, to, reason)),
  }
}

function makeMemoryRecords(): JobRecords {
  const records = new Map<string, unknown>()
  return {
    put: async (key, value) => void records.set(key, value),
    async list(prefix) {
      const found = [...records].filter(([key]) => key.startsWith(prefix))
      return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)))
    },
    async settle() {},
  }
}

import type { GroupId, JobId, RunId } from '../ids.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { DurableRun } from '../rollout/run.ts'
import { decode, encode } from './codec.ts'
import { journalClosed, unknownGroup, unknownRun } from './errors.ts'
import type { JobRecord, Journal, LedgerEntry } from './journal.ts'

/** A journal that ends with the process: for tests, and for jobs that nobody will resume. */
export function openMemoryJournal(): Journal {
  const location = 'memory'
  const jobs = new Map<JobId, JobRecord>()
  const runs = new Map<RunId, DurableRun>()
  const groups = new Map<string, { readonly group: GroupRecord; entry: LedgerEntry }>()
  /** Encoded, as on a disk: what is read back is nobody else's. */
  const records = new Map<JobId, Map<string, Uint8Array>>()
  let isClosed = false
  const checkOpen = () => {
    if (isClosed) throw journalClosed(location)
  }
  const groupKey = (jobId: JobId, groupId: GroupId) => JSON.stringify([jobId, groupId])

  return {
    location,
    async putJob(job) {
      checkOpen()
      jobs.set(job.jobId, job)
    },
    async putRun(header, trajectory) {
      checkOpen()
      // A copy, as on a disk: the caller goes on to give its bytes away.
      if (!runs.has(header.runId)) runs.set(header.runId, { header, trajectory: trajectory.slice() })
    },
    async putGroup(group) {
      checkOpen()
      const key = groupKey(group.jobId, group.groupId)
      if (groups.has(key)) return
      const { end } = group
      const entry: LedgerEntry =
        end.type === 'dropped' ? { consumption: 'dropped', reason: end.reason } : { consumption: 'pending' }
      groups.set(key, { group, entry })
    },
    async settleGroup(jobId, groupId, to, reason) {
      checkOpen()
      const found = groups.get(groupKey(jobId, groupId))
      if (found === undefined) throw unknownGroup(location, jobId, groupId)
      if (found.entry.consumption !== 'pending') return false
      found.entry = { consumption: to, ...(reason === undefined ? {} : { reason }) }
      return true
    },
    async putRecord(jobId, key, value) {
      checkOpen()
      const ofJob = records.get(jobId) ?? new Map<string, Uint8Array>()
      records.set(jobId, ofJob.set(key, Uint8Array.from(encode('record', value))))
    },
    async jobs() {
      checkOpen()
      return [...jobs.values()].sort((a, b) => a.startedAt - b.startedAt)
    },
    async run(runId) {
      checkOpen()
      const found = runs.get(runId)
      return found && { header: found.header, trajectory: found.trajectory.slice() }
    },
    trajectory(runId) {
      checkOpen()
      const found = runs.get(runId)
      if (found === undefined) throw unknownRun(location, runId)
      return found.trajectory.slice()
    },
    async *runs(jobId) {
      checkOpen()
      const headers = [...runs.values()].map(({ header }) => header)
      yield* headers.filter(header => header.jobId === jobId).sort((a, b) => byPlan(a, b) || a.member - b.member)
    },
    async *groups(jobId) {
      checkOpen()
      const found = [...groups.values()].filter(({ group }) => group.jobId === jobId)
      for (const { group, entry } of found.sort((a, b) => byPlan(a.group, b.group))) yield { ...group, ...entry }
    },
    async *records(jobId, prefix) {
      checkOpen()
      const rows = [...(records.get(jobId) ?? [])].filter(([key]) => key.startsWith(prefix))
      for (const [key, bytes] of rows.sort(([a], [b]) => (a < b ? -1 : 1)))
        yield { key, value: decode('record', bytes) }
    },
    async close() {
      isClosed = true
    },
  }
}

function byPlan(
  a: { readonly step: number; readonly index: number },
  b: { readonly step: number; readonly index: number },
): number {
  return a.step - b.step || a.index - b.index
}

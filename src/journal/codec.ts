import { Packr } from 'msgpackr'
import type { Owner } from '../owner.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { JobRecord } from './journal.ts'

/** What is behind a run id: its key in plan order. */
export type RunKey = [jobId: string, step: number, index: number, member: number, runId: string]
/** Likewise for a group. */
export type GroupKey = [jobId: string, step: number, index: number, groupId: string]

/** Kinds of records and what they decode to. */
interface Records {
  readonly version: number
  readonly owner: Owner
  readonly job: JobRecord
  readonly run: RunHeader
  readonly group: GroupRecord
  readonly runKey: RunKey
  readonly ledger: { readonly reason?: string }
  readonly record: unknown
}

/** An options object of its own, which msgpackr writes into; no records, so that every value can be read by itself. */
const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true })

export function encode<Kind extends keyof Records>(_kind: Kind, record: Records[Kind]): Uint8Array {
  return packr.pack(record)
}

/** Trusts what it reads: the journal's version says that this code wrote it. */
export function decode<Kind extends keyof Records>(_kind: Kind, bytes: Uint8Array): Records[Kind] {
  return packr.unpack(bytes) as Records[Kind]
}

export function toRunKey({ jobId, step, index, member, runId }: RunHeader): RunKey {
  return [jobId, step, index, member, runId]
}

export function toGroupKey({ jobId, step, index, groupId }: GroupRecord): GroupKey {
  return [jobId, step, index, groupId]
}

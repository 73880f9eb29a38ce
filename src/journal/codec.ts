import { crc32 } from 'node:zlib'
import type { RunId } from '../ids.ts'
import { latePackr } from '../late-packr.ts'
import type { Owner } from '../owner.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import { recordDamaged, trajectoryDamaged } from './errors.ts'
import type { JobRecord } from './journal.ts'

/** What is behind a run id: its key in plan order. */
export type RunKey = [jobId: string, step: number, index: number, member: number, runId: string]
/** Likewise for a group. */
export type GroupKey = [jobId: string, step: number, index: number, groupId: string]

/** Where a run is, and the checksum of its trajectory, which lies there as it came. */
export interface RunPlace {
  readonly key: RunKey
  readonly checksum: number
}

/** Kinds of records and what they decode to. */
interface Records {
  readonly version: number
  readonly owner: Owner
  readonly job: JobRecord
  readonly run: RunHeader
  readonly group: GroupRecord
  readonly runPlace: RunPlace
  readonly ledger: { readonly reason?: string }
  readonly record: unknown
}

const packer = latePackr()

/** The record, and four bytes by which it is known to be whole. */
export function encode<Kind extends keyof Records>(kind: Kind, record: Records[Kind]): Uint8Array {
  const bytes = packer().pack(record)
  if (isBare(kind)) return bytes
  const sealed = Buffer.allocUnsafe(bytes.byteLength + SEAL_BYTES)
  bytes.copy(sealed)
  sealed.writeUInt32LE(crc32(bytes), bytes.byteLength)
  return sealed
}

/**
 * Trusts what it reads, once its checksum agrees: the journal's version says that this code wrote it. lmdb itself has no checksums, so that
 * without this a bad block of the disk would come back as data. Throws `record-damaged`.
 */
export function decode<Kind extends keyof Records>(kind: Kind, bytes: Uint8Array): Records[Kind] {
  return packer().unpack(isBare(kind) ? bytes : opened(kind, bytes)) as Records[Kind]
}

/** What a trajectory's bytes are checked by. */
export function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes)
}

/** Throws `record-damaged` for bytes that are not those which were put. */
export function toTrajectory(runId: RunId, bytes: Uint8Array, { checksum }: RunPlace): Uint8Array {
  if (checksumOf(bytes) !== checksum) throw trajectoryDamaged(runId)
  return toOwned(bytes)
}

/** A copy that owns its ArrayBuffer, unless it does so already: lmdb's may be a slice of a buffer shared with others. */
function toOwned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

const SEAL_BYTES = 4

/** Journals of every version must be able to say which they are. */
function isBare(kind: keyof Records): boolean {
  return kind === 'version'
}

function opened(kind: keyof Records, bytes: Uint8Array): Uint8Array {
  const end = bytes.byteLength - SEAL_BYTES
  if (end < 0) throw recordDamaged(kind)
  const seal = new DataView(bytes.buffer, bytes.byteOffset + end, SEAL_BYTES).getUint32(0, true)
  const record = bytes.subarray(0, end)
  if (crc32(record) !== seal) throw recordDamaged(kind)
  return record
}

export function toRunKey({ jobId, step, index, member, runId }: RunHeader): RunKey {
  return [jobId, step, index, member, runId]
}

export function toGroupKey({ jobId, step, index, groupId }: GroupRecord): GroupKey {
  return [jobId, step, index, groupId]
}

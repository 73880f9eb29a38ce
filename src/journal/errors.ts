import { type ErrorData, TroupeError } from '../errors.ts'
import type { GroupId, JobId, RunId } from '../ids.ts'

export function journalVersion(location: string, found: unknown, expected: number): TroupeError {
  return new TroupeError({
    tag: 'journal-version',
    message: `the journal in ${location} has version ${String(found)}, and this Troupe reads and writes version ${expected}; take the Troupe that wrote it (and export the runs with it), or give another directory`,
    address: location,
    details: { found, expected },
  })
}

export function journalHeld(location: string, owner: { readonly pid: number; readonly since: number }): TroupeError {
  const who = owner.pid === process.pid ? `this process (${owner.pid})` : `process ${owner.pid}`
  return new TroupeError({
    tag: 'journal-held',
    message: `the journal in ${location} is held by ${who} since ${new Date(owner.since).toISOString()}; wait for it, end it, or give another directory`,
    address: location,
    details: { pid: owner.pid, since: owner.since },
  })
}

/** `holders` are the processes that have the gate's file open, where that is known. */
export function journalBusy(location: string, waitedMs: number, holders: readonly number[]): TroupeError {
  const [who, seen] =
    holders.length === 0
      ? ['somebody', `\`fuser ${location}/gate.lock\` names it`]
      : [
          holders.length === 1 ? `process ${holders[0]}` : `one of the processes ${holders.join(', ')}`,
          'it may be stopped',
        ]
  return new TroupeError({
    tag: 'journal-busy',
    message: `the journal in ${location} cannot be opened or written: ${who} has been in the middle of that for ${waitedMs / 1_000} s; let it go on or end it (${seen}), then start the same command again`,
    address: location,
    details: { holders },
  })
}

export function journalMissing(location: string): TroupeError {
  return new TroupeError({
    tag: 'journal-missing',
    message: `there is no journal in ${location}; give the directory that the run was started with`,
    address: location,
  })
}

export function journalUnusable(location: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'journal-unusable',
      message: `cannot open a journal in ${location}: ${why}; give a directory on a local disk that this user may write to`,
      address: location,
    },
    cause,
  )
}

/** Without an address: who reads knows where. */
export function recordDamaged(kind: string): TroupeError {
  return new TroupeError({ tag: 'record-damaged', message: `a record of the kind "${kind}" is not what was written` })
}

export function trajectoryDamaged(runId: RunId): TroupeError {
  return new TroupeError({
    tag: 'record-damaged',
    message: `the trajectory of run ${runId} is not what was written`,
    address: runId,
  })
}

export function journalDamaged(location: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'journal-damaged',
      message: `the journal in ${location} is damaged: ${why}. Look after its disk; then restore the directory from a copy, or give another one and start anew. Nothing that it holds was changed.`,
      address: location,
    },
    cause,
  )
}

export function journalWriteFailed(location: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'journal-write-failed',
      message: `the journal in ${location} could not take a record; what it acknowledged before is safe: look for a full disk, then start the same command again`,
      address: location,
    },
    cause,
  )
}

export function journalDiskFull(location: string, freeBytes: number, minFreeBytes: number): TroupeError {
  const mebibytes = (bytes: number) => Math.floor(bytes / 2 ** 20)
  return new TroupeError({
    tag: 'journal-disk-full',
    message: `the disk of the journal in ${location} has ${mebibytes(freeBytes)} MiB left, and ${mebibytes(minFreeBytes)} MiB are kept free; all that was acknowledged is safe: make room, then start the same command again`,
    address: location,
    details: { freeBytes, minFreeBytes },
  })
}

/** True when the journal takes no more records: whatever is run from now on could not be kept. */
export function isJournalFull({ tag }: ErrorData): boolean {
  return tag === 'journal-disk-full' || tag === 'journal-write-failed'
}

export function journalClosed(location: string): TroupeError {
  return new TroupeError({ tag: 'journal-closed', message: `the journal in ${location} is closed`, address: location })
}

export function journalReadOnly(location: string): TroupeError {
  return new TroupeError({
    tag: 'journal-read-only',
    message: `the journal in ${location} was opened for reading only`,
    address: location,
  })
}

export function unknownGroup(location: string, jobId: JobId, groupId: GroupId): TroupeError {
  return new TroupeError({
    tag: 'unknown-group',
    message: `the journal in ${location} knows no group ${groupId} of job ${jobId}, so it cannot be settled; put it first`,
    address: groupId,
  })
}

export function unknownJob(location: string, jobId: JobId, known: readonly JobId[]): TroupeError {
  const hint = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  return new TroupeError({
    tag: 'unknown-job',
    message: `the journal in ${location} has no job ${jobId}; ${hint}`,
    address: jobId,
    details: { known },
  })
}

export function exportFailed(target: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'export-failed',
      message: `the export to ${target} failed: ${why}; nothing that is half done was left there`,
    },
    cause,
  )
}

export function runVanished(location: string, runId: RunId): TroupeError {
  return new TroupeError({
    tag: 'journal-damaged',
    message: `the journal in ${location} lists run ${runId} and does not have it; restore it from a copy, or export what can be read`,
    address: runId,
  })
}

export function unknownRun(location: string, runId: RunId): TroupeError {
  return new TroupeError({
    tag: 'unknown-run',
    message: `the journal in ${location} has no run ${runId}; list what it has with troupe runs`,
    address: location,
    details: { runId },
  })
}

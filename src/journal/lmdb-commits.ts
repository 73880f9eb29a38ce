import { statfsSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import type { TroupeError } from '../errors.ts'
import { journalDiskFull, journalWriteFailed } from './errors.ts'
import type { Gate } from './gate.ts'

/**
 * One write, as this file wants it: `put` queues it with lmdb, `isWhole` looks at the committed state, `repair` queues what a
 * write that was half done left out.
 */
export interface Write {
  readonly bytes: number
  put(): Promise<boolean>
  isWhole(): boolean
  repair(): Promise<unknown>
}

/** Commits writes, and stops for good at the first that fails. */
export interface Commits {
  readonly failure: TroupeError | undefined
  /** What `put` resolved with. Rejects with `journal-disk-full` or `journal-write-failed`, as do all writes from then on. */
  commit(write: Write): Promise<boolean>
  /** Resolves when no write is on its way. Never rejects. */
  idle(): Promise<void>
}

/**
 * lmdb fails badly where its disk does: single puts of a batch are left out while the batch is acknowledged, promises are rejected
 * that nobody holds, others never settle. So the disk is looked at before it is full; nothing is acknowledged that a look
 * at the committed state does not find whole; and a failure, or a commit that takes longer than a minute, ends all that wait.
 */
export function makeCommits(ports: {
  readonly location: string
  readonly clock: Clock
  readonly gate: Gate
  readonly minFreeBytes: number
  /** Makes the next look see what is committed by now. */
  readonly refresh: () => void
}): Commits {
  const { location, clock, gate, minFreeBytes } = ports
  const waiting = new Set<(error: TroupeError) => void>()
  const inFlight = new Set<Promise<boolean>>()
  let failure: TroupeError | undefined
  let sinceLook = Number.POSITIVE_INFINITY

  function fail(error: TroupeError): TroupeError {
    failure ??= error
    for (const reject of waiting) reject(failure)
    waiting.clear()
    return failure
  }

  function checkRoom(bytes: number): void {
    sinceLook += bytes
    if (sinceLook < LOOK_EVERY_BYTES) return
    sinceLook = 0
    const freeBytes = readFreeBytes(location)
    if (freeBytes < minFreeBytes) throw fail(journalDiskFull(location, freeBytes, minFreeBytes))
  }

  /** Settles as `work` does, or rejects when the journal fails meanwhile or the deadline passes. */
  function orFailure<Value>(work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(COMMIT_DEADLINE_MS, () => {
        fail(journalWriteFailed(location, new Error(`no commit within ${COMMIT_DEADLINE_MS} ms`)))
      })
      const rejectNow = (error: TroupeError) => {
        cancel()
        reject(error)
      }
      waiting.add(rejectNow)
      const settle = (how: () => void) => {
        cancel()
        waiting.delete(rejectNow)
        how()
      }
      work.then(
        value => settle(() => resolve(value)),
        error => settle(() => reject(error)),
      )
    })
  }

  async function commit(write: Write): Promise<boolean> {
    checkRoom(write.bytes)
    try {
      const result = await orFailure(write.put())
      // lmdb renews its view with each commit; that it did is not documented, and renewing once more for each run is dear.
      if (write.isWhole()) return result
      ports.refresh()
      if (write.isWhole()) return result
      // Put before, by a process whose disk was full: half of it is there.
      if (!result) await orFailure(write.repair())
      ports.refresh()
      if (write.isWhole()) return result
      throw new Error('lmdb acknowledged a record that it does not have')
    } catch (error) {
      if (failure !== undefined) throw failure
      throw fail(journalWriteFailed(location, await commitCause(error)))
    }
  }

  async function commitInside(write: Write): Promise<boolean> {
    await gate.enter().catch((error: unknown) => {
      throw fail(journalWriteFailed(location, error))
    })
    try {
      return await commit(write)
    } finally {
      gate.leave()
    }
  }

  return {
    get failure() {
      return failure
    },
    async commit(write) {
      if (failure !== undefined) throw failure
      const committing = commitInside(write)
      inFlight.add(committing)
      try {
        return await committing
      } finally {
        inFlight.delete(committing)
      }
    },
    async idle() {
      await Promise.allSettled(inFlight)
    },
  }
}

function readFreeBytes(location: string): number {
  const { bavail, bsize } = statfsSync(location)
  return bavail * bsize
}

const LOOK_EVERY_BYTES = 8 * 2 ** 20
const COMMIT_DEADLINE_MS = 60_000

/** lmdb puts the reason for a failed commit into a promise of its own, which takes the process down when nobody looks at it. */
async function commitCause(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  try {
    await error.commitError
    return error
  } catch (cause) {
    return cause
  }
}

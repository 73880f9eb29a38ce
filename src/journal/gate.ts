import { closeSync, openSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Clock, sleep } from '../clock.ts'
import { journalBusy } from './errors.ts'
import { whoHasOpen } from './who-has-open.ts'

/** Required with the first gate: a program without a journal loads nothing native. */
type Locks = typeof import('fs-native-extensions')
const require = createRequire(import.meta.url)

const FILE = 'gate.lock'
/** Bytes of the file that are locked: to pass the turnstile is to be let into the room. */
const TURNSTILE = 0
const ROOM = 1
/** How long those who are in the room may go on coming in before they look again whether somebody wants it for himself. */
const LOOK_EVERY_MS = 20
/** Asked again after so long, and then ever less often. */
const ASK_AGAIN_MS = { first: 2, longest: 50 }
const LONGEST_WAIT_MS = 30_000

/**
 * Keeps commits and the opening of lmdb's file apart, across threads and processes. lmdb looks up the latest commit when it opens a file and
 * writes that number where all processes read it; a commit that comes between the two is then written over by the next one (ITS#9496).
 * The locks are the system's own, so that none outlives the process that took it.
 */
export interface Gate {
  /** Before a commit. Resolves at once unless somebody is alone inside; rejects with `journal-busy` after half a minute. */
  enter(): Promise<void>
  /** Once for each `enter`, when lmdb has committed or given up. */
  leave(): void
  /** Runs `work` while nobody commits. Rejects with `journal-busy` when a commit does not end for half a minute. */
  alone<Value>(work: () => Value | Promise<Value>): Promise<Value>
  close(): void
}

/** A gate of its own for each who opens the journal. One who may not write the file needs none: lmdb then leaves its own locks alone too. */
export function openGate(directory: string, clock: Clock): Gate {
  const opened = openFile(join(directory, FILE))
  if (opened === undefined) return OPEN_GATE
  const { tryLock, unlock }: Locks = require('fs-native-extensions')
  const descriptor = opened
  let inside = 0
  let lookedAt = Number.NEGATIVE_INFINITY

  async function until(isReached: () => boolean): Promise<void> {
    const deadline = clock.now() + LONGEST_WAIT_MS
    for (let waitMs = ASK_AGAIN_MS.first; !isReached(); waitMs = Math.min(2 * waitMs, ASK_AGAIN_MS.longest)) {
      if (clock.now() >= deadline) throw busy()
      await sleep(clock, waitMs)
    }
  }

  /** Told by its real path, as the system's lists of open files have it. */
  const busy = () => journalBusy(directory, LONGEST_WAIT_MS, whoHasOpen(join(realpathSync(directory), FILE)))

  /** False when somebody is alone inside or wants to be; the first one in keeps all of those out. */
  function tryToEnter(): boolean {
    if (inside === 0 || clock.now() - lookedAt >= LOOK_EVERY_MS) {
      if (!tryLock(descriptor, TURNSTILE, 1, { shared: true })) return false
      lookedAt = clock.now()
      const isIn = inside > 0 || tryLock(descriptor, ROOM, 1, { shared: true })
      unlock(descriptor, TURNSTILE, 1)
      if (!isIn) return false
    }
    inside += 1
    return true
  }

  return {
    async enter() {
      if (!tryToEnter()) await until(tryToEnter)
    },
    leave() {
      inside -= 1
      if (inside === 0) unlock(descriptor, ROOM, 1)
    },
    async alone(work) {
      await until(() => tryLock(descriptor, TURNSTILE, 1))
      try {
        await until(() => inside === 0 && tryLock(descriptor, ROOM, 1))
        try {
          return await work()
        } finally {
          unlock(descriptor, ROOM, 1)
        }
      } finally {
        unlock(descriptor, TURNSTILE, 1)
      }
    },
    close: () => closeSync(descriptor),
  }
}

const OPEN_GATE: Gate = {
  enter: async () => {},
  leave: () => {},
  alone: async work => work(),
  close: () => {},
}

function openFile(file: string): number | undefined {
  try {
    return openSync(file, 'a+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EROFS'))
      return undefined
    throw error
  }
}

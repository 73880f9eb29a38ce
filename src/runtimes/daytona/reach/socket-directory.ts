import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../../clock.ts'
import { markOwned, removeAbandoned } from '../../../environment/owned-directory.ts'
import { removeDirectory } from '../../../environment/workspace/base-directory.ts'
import { socketDirectoryTooLong } from './errors.ts'

/** Where the near ends of tunnels are: a directory that only this user can enter. */
export interface SocketDirectory {
  /** A path for one more socket. Rejects with `socket-path-too-long`. */
  newPath(): Promise<string>
  /** Removes the directory. */
  close(): Promise<void>
}

const PREFIX = 'troupe-reach-'
/** Below what any system takes. */
const MAX_PATH_BYTES = 100
/** What `mkdtemp` adds, and the longest name of a socket. */
const REST_BYTES = 6 + '/999999999.sock'.length

/** Nothing is made before the first path is asked for; what processes that were killed left is removed then. */
export function makeSocketDirectory(clock: Clock): SocketDirectory {
  let made: Promise<string> | undefined
  let names = 0

  async function make(): Promise<string> {
    const parent = [tmpdir(), '/tmp'].find(each => Buffer.byteLength(join(each, PREFIX)) + REST_BYTES <= MAX_PATH_BYTES)
    if (parent === undefined) throw socketDirectoryTooLong(tmpdir())
    await removeAbandoned(parent, PREFIX)
    const directory = await mkdtemp(join(parent, PREFIX))
    markOwned(directory, clock.wallTime())
    return directory
  }

  return {
    async newPath() {
      made ??= make()
      names += 1
      const name = `${names}.sock`
      return join(await made, name)
    },
    async close() {
      const directory = await made?.catch(() => undefined) // what was not made is not there
      if (directory !== undefined) await removeDirectory(directory)
    },
  }
}

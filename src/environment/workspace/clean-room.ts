import { randomBytes } from 'node:crypto'
import { hasTag } from '../../errors.ts'
import type { CleanRun } from '../workspace.ts'
import { removeDirectory } from './base-directory.ts'
import { type DirectoryFiles, makeDirectoryFiles } from './directory.ts'
import { toLaunch, visibleRoot } from './launch.ts'
import type { Owner } from './owners.ts'
import { type RunningProcess, startProcess } from './process.ts'
import type { SessionPorts } from './session.ts'
import { watchUsage } from './usage-watch.ts'

export interface RoomPorts extends Pick<SessionPorts, 'settings' | 'base' | 'owners' | 'clock'> {
  track(started: RunningProcess): RunningProcess
  /** Starts the name of the directory. */
  readonly name: string
  /** What runs there is the judge's own and not watched: it may share memory with forks for many sessions. */
  readonly trusted?: true
}

/** A fresh directory with a user of its own where that is possible, for programs that must find nothing of the agent's. */
export interface Room {
  readonly directory: string
  readonly owner: Owner | undefined
  /** The directory as programs in it see it. */
  readonly root: string
  readonly files: DirectoryFiles
  start(argv: readonly string[], env: Readonly<Record<string, string>>, extra: number): RunningProcess
  remove(): Promise<void>
}

export async function makeRoom(ports: RoomPorts, files: CleanRun['files']): Promise<Room> {
  const { settings, base, owners, clock } = ports
  const owner = owners.claim()
  const directory = await base.make(`${ports.name}-${randomBytes(6).toString('hex')}`, owner)
  const root = visibleRoot(settings.view !== undefined, directory)
  const written = makeDirectoryFiles({ directory, root, owner, maxFileBytes: settings.limits.fileBytes })
  for (const [path, content] of files) written.write(path, content)
  const watch = ports.trusted ? undefined : watchUsage(directory, settings.limits, clock)
  return {
    directory,
    owner,
    root,
    files: written,
    start(argv, env, extra) {
      const launch = toLaunch(settings, { argv, directory, owner, env, descriptors: extra })
      const started = ports.track(startProcess(launch, clock, extra))
      watch?.add(started)
      return started
    },
    async remove() {
      watch?.close()
      await removeDirectory(directory)
      owners.release(owner)
    },
  }
}

/** Missing files, and whatever else stands under their names (a link, a pipe, a directory), are left out. */
export function collectFiles(files: DirectoryFiles, paths: readonly string[]): ReadonlyMap<string, string> {
  const collected = new Map<string, string>()
  for (const path of paths) {
    try {
      collected.set(path, files.read(path).toString('utf8'))
    } catch (error) {
      if (!hasTag(error, 'file-not-read') && !hasTag(error, 'path-refused')) throw error
    }
  }
  return collected
}

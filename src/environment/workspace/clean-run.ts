import { randomBytes } from 'node:crypto'
import { hasTag } from '../../errors.ts'
import type { CommandResult } from '../../wire/shell.ts'
import type { CleanRun } from '../workspace.ts'
import { removeDirectory } from './base-directory.ts'
import { type DirectoryFiles, makeDirectoryFiles } from './directory.ts'
import { toLaunch, visibleRoot } from './launch.ts'
import type { Owner } from './owners.ts'
import { type RunningProcess, startProcess } from './process.ts'
import { runToEnd } from './run-to-end.ts'
import type { SessionPorts } from './session.ts'

export interface CleanRunPorts extends Omit<SessionPorts, 'gate'> {
  track(started: RunningProcess): RunningProcess
  /** Starts the names of the directories. */
  readonly name: string
}

interface Room {
  readonly files: DirectoryFiles
  start(argv: readonly string[], env: Readonly<Record<string, string>>, extra: number): RunningProcess
  remove(): Promise<void>
}

/**
 * Runs a program, and its peer if it has one, each in a fresh directory with a user of its own where that is possible. The
 * pair takes one turn at the gate: if each waited for its own, pairs could hold one turn each and wait for ever.
 */
export async function runClean(
  run: CleanRun & { readonly signal: AbortSignal },
  ports: CleanRunPorts,
): Promise<CommandResult & { readonly collected: ReadonlyMap<string, string> }> {
  const { clock } = ports
  const rooms: Room[] = []
  const furnish = async (files: CleanRun['files']) => {
    const room = await makeRoom(ports)
    rooms.push(room)
    for (const [path, content] of files) room.files.write(path, content)
    return room
  }
  let beside: RunningProcess | undefined
  try {
    const room = await furnish(run.files)
    const peerRoom = run.peer === undefined ? undefined : await furnish(run.peer.files)
    run.signal.throwIfAborted()
    if (run.peer !== undefined) beside = peerRoom?.start(run.peer.argv, run.env, 0)
    const started = room.start(run.argv, run.env, beside === undefined ? 0 : 2)
    if (beside !== undefined) connect(started, beside)
    const result = await runToEnd(started, { timeoutMs: run.timeoutMs, signal: run.signal }, clock, beside)
    return { ...result, collected: collect(room.files, run.collect) }
  } finally {
    beside?.kill()
    await beside?.ended.catch(() => {}) // reported by the run itself; here only waited for
    await Promise.all(rooms.map(room => room.remove()))
  }
}

/**
 * Crosswise, through this process: the two share no descriptor, so that neither can pass the other one, and a descriptor that
 * libuv made non-blocking for itself never reaches a program. Back-pressure is `pipe`'s. When the peer ends, the first reads
 * an end of file on descriptor 3. The peer's stderr is nobody's.
 */
function connect(first: RunningProcess, peer: RunningProcess): void {
  const [toFirst, fromFirst] = first.extra
  if (toFirst === undefined || fromFirst === undefined) return
  peer.stdout.pipe(toFirst)
  toFirst.resume()
  fromFirst.pipe(peer.stdin)
  peer.stderr.resume()
  // A broken pipe unpipes and leaves its source paused, and a process counts as ended only when its output was read.
  toFirst.once('close', () => peer.stdout.resume())
  peer.stdin.once('close', () => fromFirst.resume())
}

async function makeRoom(ports: CleanRunPorts): Promise<Room> {
  const { settings, base, owners, clock } = ports
  const owner: Owner | undefined = owners.claim()
  const directory = await base.make(`${ports.name}-${randomBytes(6).toString('hex')}`, owner)
  const root = visibleRoot(settings.view !== undefined, directory)
  return {
    files: makeDirectoryFiles({ directory, root, owner, maxFileBytes: settings.limits.fileBytes }),
    start: (argv, env, extra) =>
      ports.track(startProcess(toLaunch(settings, { argv, directory, owner, env, descriptors: extra }), clock, extra)),
    async remove() {
      await removeDirectory(directory)
      owners.release(owner)
    },
  }
}

/** Missing files, and whatever else stands under their names (a link, a pipe, a directory), are left out. */
function collect(files: DirectoryFiles, paths: readonly string[]): ReadonlyMap<string, string> {
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

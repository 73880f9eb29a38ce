import { randomBytes } from 'node:crypto'
import { chown, mkdir, open } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { commandTimedOut } from '../../wire/exec-errors.ts'
import { DEFAULT_MAX_OUTPUT_BYTES } from '../../wire/exec-output.ts'
import type { CommandResult } from '../../wire/shell.ts'
import type { CleanRun } from '../workspace.ts'
import { removeDirectory } from './base-directory.ts'
import { collectFiles, makeRoom, type Room, type RoomPorts } from './clean-room.ts'
import { makeDirectoryFiles } from './directory.ts'
import { warmProgramEnded } from './errors.ts'
import type { RunningProcess } from './process.ts'
import type { WarmRun } from './warm-programs.ts'

/**
 * A program that has loaded what it needs, and forks for each run: what takes an interpreter most of its time is paid once. It
 * writes `ready`, then reads lines of JSON: `{"id", "directory", "arguments", "env", "peer"}` asks for a run, to which
 * it answers `<id> <exit status>` when that is over, and `{"kill": id}` ends one. The fork works in `directory`, writes its output to the
 * files `stdout` and `stderr` there, and with `peer` finds it behind the socket `peer`.
 */
export interface WarmProgram {
  run(run: WarmRun, peer: RunningProcess | undefined): Promise<CommandResult & { readonly collected: Collected }>
  /** True once it can run nothing more. */
  isOver(): boolean
  close(): Promise<void>
}

type Collected = ReadonlyMap<string, string>
type Program = Pick<CleanRun, 'argv' | 'files' | 'env'>

const READY_MS = 60_000
const OUTPUTS = ['stdout', 'stderr'] as const

/** Rejects with `warm-program-ended` when it does not come up within a minute. */
export async function startWarmProgram(program: Program, ports: RoomPorts): Promise<WarmProgram> {
  const room = await makeRoom(ports, program.files)
  const started = room.start(program.argv, program.env, 0)
  const { clock } = ports
  const waiting = new Map<string, (exitCode: number | undefined) => void>()
  let tellReady = () => {}
  const ready = new Promise<void>(resolve => {
    tellReady = resolve
  })
  createInterface({ input: started.stdout }).on('line', line => {
    if (line === 'ready') return tellReady()
    const [id = '', status] = line.split(' ')
    waiting.get(id)?.(Number(status))
  })
  started.stderr.resume()
  let over = false
  const ended = started.ended
    .catch(() => {})
    .then(() => {
      over = true
      for (const settle of [...waiting.values()]) settle(undefined)
    })

  async function close(): Promise<void> {
    started.kill()
    await ended
    await room.remove()
  }

  let cancel = () => {}
  const late = new Promise<void>(resolve => {
    cancel = clock.after(READY_MS, () => {
      started.kill()
      resolve()
    })
  })
  await Promise.race([ready, ended, late])
  cancel()
  if (over) {
    await close()
    throw warmProgramEnded('it ended before it was ready')
  }

  const tell = (message: unknown) => void started.stdin.write(`${JSON.stringify(message)}\n`)

  /** Resolves with the exit status; undefined when the program is gone. */
  function fork(id: string, request: Readonly<Record<string, unknown>>): Promise<number | undefined> {
    return new Promise(resolve => {
      if (over) return resolve(undefined)
      waiting.set(id, exitCode => {
        waiting.delete(id)
        resolve(exitCode)
      })
      tell({ id, ...request })
    })
  }

  async function run(asked: WarmRun, peer: RunningProcess | undefined) {
    const { signal, timeoutMs, env, warm } = asked
    const id = randomBytes(6).toString('hex')
    const { files, directory } = await makePlace(room, id, asked.files, ports)
    const listener = peer === undefined ? undefined : await listen(directory, peer)
    let failure: (() => unknown) | undefined
    const stop = (why: () => unknown) => {
      failure ??= why
      tell({ kill: id })
      peer?.kill()
    }
    const abort = () => stop(() => signal.reason)
    const cancelDeadline = clock.after(timeoutMs, () => stop(() => commandTimedOut(timeoutMs)))
    signal.addEventListener('abort', abort, { once: true })
    try {
      const forked = fork(id, {
        directory: join(room.root, id),
        arguments: warm.arguments,
        env,
        peer: listener !== undefined,
      })
      if (signal.aborted) abort()
      const exitCode = await forked
      if (failure !== undefined) throw failure()
      if (exitCode === undefined) throw warmProgramEnded('it ended during a run')
      const found = collectFiles(files, [...asked.collect, ...OUTPUTS])
      const [stdout = '', stderr = ''] = OUTPUTS.map(name => found.get(name)?.slice(0, DEFAULT_MAX_OUTPUT_BYTES))
      return { exitCode, stdout, stderr, collected: found }
    } finally {
      cancelDeadline()
      signal.removeEventListener('abort', abort)
      await listener?.close()
      await removeDirectory(directory)
    }
  }

  return { run, isOver: () => over, close }
}

async function makePlace(room: Room, id: string, files: CleanRun['files'], { settings }: RoomPorts) {
  const directory = join(room.directory, id)
  await mkdir(directory, { mode: 0o700 })
  if (room.owner !== undefined) await chown(directory, room.owner, room.owner)
  const written = makeDirectoryFiles({
    directory,
    root: join(room.root, id),
    owner: room.owner,
    maxFileBytes: settings.limits.fileBytes,
  })
  for (const [path, content] of files) written.write(path, content)
  return { directory, files: written }
}

interface Listener {
  close(): Promise<void>
}

/** The fork's way to the peer. Bound through a descriptor, because a socket's path may have 107 characters at most. */
async function listen(directory: string, peer: RunningProcess): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}) // either side may end first: both are results
    if (sockets.size === 1) {
      peer.stdout.pipe(socket)
      socket.pipe(peer.stdin)
      // A broken pipe leaves its source paused, and a process counts as ended only when its output was read.
      socket.once('close', () => peer.stdout.resume())
      peer.stdin.once('close', () => socket.resume())
    } else socket.destroy()
  })
  peer.stderr.resume()
  // Open until the server is closed, which removes the socket by that path.
  const handle = await open(directory)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
    await handle.close()
  }
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: `/proc/self/fd/${handle.fd}/peer`, writableAll: true }, resolve)
    })
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}

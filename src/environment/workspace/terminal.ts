import { StringDecoder } from 'node:string_decoder'
import type { Launch } from './launch.ts'
import { killTree, type ProcessEnd } from './process.ts'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
  /** The client's TERM. */
  readonly term: string
}

/** A command with a pseudo-terminal of its own. */
export interface Terminal {
  readonly pid: number
  readonly ended: Promise<ProcessEnd>
  write(data: Buffer): void
  onData(listener: (data: Buffer) => void): void
  pause(): void
  resume(): void
  resize(columns: number, rows: number): void
  kill(): void
  /** The same: its screen says no more. */
  killFor(why: string): void
}

const MAX_SIDE = 1_000

/** The pty library is native and rarely needed, so it is loaded by the first command that asks for a terminal. */
export async function startTerminal(launch: Launch, size: TerminalSize): Promise<Terminal> {
  const { spawn } = await import('@lydell/node-pty')
  const [file = '', ...args] = [...dropOwner(launch), ...openFilter(launch), launch.file, ...launch.args]
  const pty = spawn(file, args, {
    name: size.term,
    cols: clamp(size.columns),
    rows: clamp(size.rows),
    cwd: launch.cwd,
    env: { ...launch.env },
    encoding: null,
  })
  const decoder = new StringDecoder('utf8')
  let over = false
  let why: string | undefined
  const kill = () => {
    if (!over) killTree(pty.pid, launch.contained)
  }
  const ended = new Promise<ProcessEnd>(resolve => {
    pty.onExit(({ exitCode, signal }) => {
      over = true
      if (!launch.contained) killTree(pty.pid, false)
      resolve({ exitCode: signal === undefined || signal === 0 ? exitCode : 128 + signal, signal: undefined, why })
    })
  })
  return {
    pid: pty.pid,
    ended,
    write: data => {
      if (!over) pty.write(decoder.write(data))
    },
    // With `encoding: null` the library hands out bytes, whatever its types say.
    onData: listener => void pty.onData(data => listener(Buffer.from(data))),
    pause: () => pty.pause(),
    resume: () => pty.resume(),
    resize: (columns, rows) => {
      if (!over) pty.resize(clamp(columns), clamp(rows))
    },
    kill,
    killFor(reason) {
      why ??= reason
      kill()
    },
  }
}

/** The library can change the user but keeps root's supplementary groups; `setpriv` drops both. */
function dropOwner({ owner }: Launch): readonly string[] {
  if (owner === undefined) return []
  return ['/usr/bin/setpriv', '--reuid', String(owner), '--regid', String(owner), '--clear-groups', '--']
}

/** The library passes on no descriptors; a shell opens the file and becomes the program. */
function openFilter({ filter }: Launch): readonly string[] {
  return filter === undefined ? [] : ['/bin/sh', '-c', `exec "$@" ${filter.descriptor}<"$0"`, filter.path]
}

const clamp = (cells: number): number => Math.min(MAX_SIDE, Math.max(1, Math.trunc(cells) || 1))

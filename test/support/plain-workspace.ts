import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { CleanRun, Workspace } from '../../src/environment/workspace.ts'
import { TroupeError } from '../../src/errors.ts'
import type { CommandOptions, CommandResult, Shell } from '../../src/wire/shell.ts'

/** A workspace in a temporary directory without any isolation, and its shell, for code that only needs the contract. */
export interface PlainWorkspace extends Workspace {
  readonly shell: Shell
  close(): Promise<void>
}

export async function makePlainWorkspace(): Promise<PlainWorkspace> {
  const directory = await mkdtemp(join(tmpdir(), 'plain-workspace-'))
  const env = { PATH: '/usr/bin:/bin', HOME: directory, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' }
  const read = async (path: string) => {
    try {
      return await readFile(join(directory, path), 'utf8')
    } catch (error) {
      throw new TroupeError({ tag: 'file-not-read', message: `cannot read ${path}`, address: path }, error)
    }
  }
  const write = (path: string, content: string | Uint8Array) => put(directory, path, content)
  const exec = (command: string, options: CommandOptions = {}) => {
    const child = start(['/bin/bash', '-c', command], directory, env, 0)
    child.stdin?.on('error', () => {}) // a command may end before it has read
    child.stdin?.end(options.stdin)
    return finish(child, options)
  }
  return {
    directory,
    read,
    write,
    remove: path => rm(join(directory, path), { recursive: true, force: true }),
    exec,
    runClean,
    shell: { protocol: 'exec/1', cwd: directory, exec, readFile: read, writeFile: write, close: async () => {} },
    close: () => rm(directory, { recursive: true, force: true }),
  }
}

async function runClean(run: CleanRun): ReturnType<Workspace['runClean']> {
  const [room, peerRoom] = await Promise.all([furnish(run.files), furnish(run.peer?.files ?? new Map())])
  const peer = run.peer === undefined ? undefined : start(run.peer.argv, peerRoom, run.env, 0)
  try {
    const child = start(run.argv, room, run.env, peer === undefined ? 0 : 2)
    child.stdin?.end()
    if (peer !== undefined) connect(child, peer)
    const result = await finish(child, run)
    const collected = new Map<string, string>()
    for (const path of run.collect) {
      const content = await readFile(join(room, path), 'utf8').catch(() => undefined) // a missing file is left out
      if (content !== undefined) collected.set(path, content)
    }
    return { ...result, collected }
  } finally {
    if (peer !== undefined) await stop(peer)
    await Promise.all([room, peerRoom].map(each => rm(each, { recursive: true, force: true })))
  }
}

function connect(child: ChildProcess, peer: ChildProcess): void {
  const [, , , replies, requests] = child.stdio as [unknown, unknown, unknown, Writable, Readable]
  for (const stream of [replies, requests, peer.stdin]) stream?.on('error', () => {}) // the other side has ended
  if (peer.stdin !== null) requests.pipe(peer.stdin)
  peer.stdout?.pipe(replies)
  peer.stderr?.resume()
}

function start(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  extra: number,
): ChildProcess {
  const [file = '', ...args] = argv
  const pipes = Array.from({ length: 3 + extra }, () => 'pipe' as const)
  return spawn(file, args, { cwd, env: { ...env }, stdio: pipes, detached: true })
}

async function finish(child: ChildProcess, limits: CommandOptions): Promise<CommandResult> {
  const { timeoutMs, signal } = limits
  let late = false
  const timer = setTimeout(() => {
    late = true
    kill(child)
  }, timeoutMs ?? 60_000)
  const abort = () => kill(child)
  if (signal?.aborted === true) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  try {
    const [stdout, stderr, exitCode] = await Promise.all([toText(child.stdout), toText(child.stderr), ended(child)])
    signal?.throwIfAborted()
    if (late) throw new TroupeError({ tag: 'command-timeout', message: `not over after ${timeoutMs} ms` })
    return { exitCode, stdout, stderr }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

const toText = async (stream: Readable | null): Promise<string> => (stream === null ? '' : text(stream))

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 137)))
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const end = ended(child)
  kill(child)
  await end
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // gone already
  }
}

async function furnish(files: ReadonlyMap<string, string | Uint8Array>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plain-clean-'))
  for (const [path, content] of files) await put(directory, path, content)
  return directory
}

async function put(directory: string, path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true })
  await writeFile(join(directory, path), content)
}

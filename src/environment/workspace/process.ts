import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { Clock } from '../../clock.ts'
import { processNotStarted } from './errors.ts'
import type { Launch } from './launch.ts'

/** How a process ended: its exit status, 128 + n after signal n. */
export interface ProcessEnd {
  readonly exitCode: number
  readonly signal: NodeJS.Signals | undefined
  /** Why the workspace ended it; undefined where it did not, or was asked to. */
  readonly why: string | undefined
}

/** A command that runs, with all that it started. */
export interface RunningProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Descriptors 3 and 4, where they were asked for. */
  readonly extra: readonly Duplex[]
  /** Resolves once the process is gone and its output has been read to the end. Rejects with `process-not-started`. */
  readonly ended: Promise<ProcessEnd>
  /** SIGKILL to all that it started. Safe to call twice. */
  kill(): void
  /** The same, and `ended` says why: whoever waits for it did not ask. */
  killFor(why: string): void
}

const DRAIN_MS = 1_000

/** Starts a program in a process group of its own; `extra` opens that many descriptors from 3 on. Throws `process-not-started`. */
export function startProcess(launch: Launch, clock: Clock, extra = 0): RunningProcess {
  const { contained } = launch
  const child = spawnLaunch(launch, extra)
  let why: string | undefined
  const ended = endOf(child, contained, clock).then(end => ({ ...end, why }))
  const [stdin, stdout, stderr, ...others] = child.stdio
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) killTree(child.pid, contained)
  }
  // A command may end without reading its input, or its judge without reading its peer's: both are results, not errors.
  for (const stream of child.stdio) stream?.on('error', () => {})
  return {
    pid: child.pid ?? 0,
    stdin: stdin as Writable,
    stdout: stdout as Readable,
    stderr: stderr as Readable,
    extra: others.slice(0, extra) as unknown as readonly Duplex[],
    ended,
    kill,
    killFor(reason) {
      why ??= reason
      kill()
    },
  }
}

/** The filter is opened for each, because bwrap reads it to its end from where it stands. */
function spawnLaunch({ file, args, cwd, env, owner, filter }: Launch, extra: number): ChildProcess {
  const pipes = Array.from({ length: 3 + extra }, () => 'pipe' as const)
  const opened = filter === undefined ? undefined : tryOpen(filter.path)
  try {
    return trySpawn(file, args, {
      cwd,
      env: { ...env },
      detached: true,
      stdio: opened === undefined ? pipes : [...pipes, opened],
      ...(owner === undefined ? {} : { uid: owner, gid: owner }),
    })
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

function tryOpen(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw processNotStarted(error)
  }
}

/** Some failures are thrown, some are events, and out of descriptors there are not even streams. */
function trySpawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  let child: ChildProcess
  try {
    child = spawn(file, args, options)
  } catch (error) {
    throw processNotStarted(error)
  }
  if (child.stdio !== undefined) return child
  child.once('error', () => {}) // thrown below
  throw processNotStarted(new Error('no file descriptor is free'))
}

type ExitOnly = Omit<ProcessEnd, 'why'>

function endOf(child: ChildProcess, contained: boolean, clock: Clock): Promise<ExitOnly> {
  return new Promise((resolve, reject) => {
    let cancelDrain = () => {}
    child.once('error', error => {
      if (child.pid === undefined) reject(processNotStarted(error))
    })
    child.once('exit', () => {
      if (contained) return
      // Without a PID namespace a background process may hold the pipes open for ever: end the group, then stop reading.
      killTree(child.pid, false)
      cancelDrain = clock.after(DRAIN_MS, () => {
        for (const stream of child.stdio) stream?.destroy()
      })
    })
    child.once('close', (code, signal) => {
      cancelDrain()
      resolve(toProcessEnd(code, signal))
    })
  })
}

function toProcessEnd(code: number | null, signal: NodeJS.Signals | null): ExitOnly {
  if (signal === null) return { exitCode: code ?? 0, signal: undefined }
  return { exitCode: 128 + constants.signals[signal], signal }
}

/**
 * SIGKILL to a command and everything it started. Of a sandbox the init inside is killed, by which the kernel ends the rest;
 * bwrap, its parent, then reaps it and ends by itself, so that nothing is left for the machine's init. Where there is no
 * child yet, or none can be seen, the group is killed: `--die-with-parent` takes the sandbox along.
 */
export function killTree(pid: number | undefined, contained: boolean): void {
  if (pid === undefined) return
  const inits = contained ? childrenOf(pid) : []
  if (inits.length === 0) kill(-pid)
  else for (const init of inits) kill(init)
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  } catch {
    return [] // it ended, or this kernel does not list children
  }
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL')
  } catch {
    // ESRCH: it ended by itself in the meantime
  }
}

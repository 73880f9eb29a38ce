import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { leashed } from '../../src/runtimes/leash.ts'
import { childrenOf } from '../engine/proc-stat.ts'

const PROGRAM = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** `troupe` in a process of its own. */
export interface Program {
  /** Of the program itself, not of the shell that holds it. */
  readonly pid: number
  /** All that it has said on stderr. */
  stderr(): string
  /** The exit code, or the signal that ended it; what it printed. */
  readonly ended: Promise<{ readonly code: number | NodeJS.Signals | null; readonly stdout: string }>
  /** SIGTERM, and SIGKILL to all of it when it has not ended in time. Twice is once. */
  end(): Promise<void>
}

export interface ProgramOptions {
  readonly cwd?: string
  readonly variables?: Readonly<Record<string, string>>
  /** What comes before the program: `nsenter --net=…`. */
  readonly prefix?: readonly string[]
}

const END_MS = 60_000

/** Ends with this process, however that ends. */
export function startProgram(argv: readonly string[], options: ProgramOptions = {}): Program {
  const { cwd = process.cwd(), variables = {}, prefix = [] } = options
  const [file, ...rest] = leashed([...prefix, process.execPath, PROGRAM, ...argv] as [string, ...string[]])
  const child = spawn(file, rest, {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, NO_COLOR: '1', ...variables },
  })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (more: string) => {
      text[name] += more
    })
  const ended = new Promise<{ code: number | NodeJS.Signals | null; stdout: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code: code ?? signal, stdout: text.stdout }))
  })
  return {
    get pid() {
      return programOf(child)
    },
    stderr: () => text.stderr,
    ended,
    async end() {
      signalGroup(child, 'SIGTERM')
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), END_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

/** `troupe worker`. Resolves when it has connected; rejects with what it said where it ends before. */
export async function startWorker(
  url: string,
  argv: readonly string[],
  options: ProgramOptions = {},
): Promise<Program> {
  const worker = startProgram(['worker', '--nats', url, ...argv], options)
  const gone = worker.ended.then(({ code }) => {
    throw new Error(`a worker ended with ${code}:\n${worker.stderr()}`)
  })
  gone.catch(() => {}) // It may end once it has been of use.
  while (!worker.stderr().includes('works for whoever asks')) await Promise.race([gone, nextLook()])
  return worker
}

const LOOK_MS = 50

const nextLook = () => new Promise(resolve => setTimeout(resolve, LOOK_MS))

/** The shell has two children: the program, and a shell that watches. */
function programOf({ pid }: ChildProcess): number {
  const [program] = pid === undefined ? [] : childrenOf(pid)
  if (program === undefined) throw new Error('the program has ended')
  return program
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal)
}

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/clock.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import { NOTE_AGENT, NOTE_ENVIRONMENT, NOTE_TASKS } from './notes.ts'

export const repository = fileURLToPath(new URL('../../../', import.meta.url))
const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** A CLI that runs, or ran. */
export interface Cli {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** A directory with the notes environment, its agent, and a temporary directory in which everything that is left can be seen. */
export class Scene {
  readonly directory: string
  readonly temporary: string
  readonly journal: string
  private readonly children: ChildProcess[] = []

  constructor(directory: string) {
    this.directory = directory
    this.temporary = join(directory, 't')
    this.journal = join(directory, '.troupe/journal')
  }

  start(argv: readonly string[], variables: Readonly<Record<string, string>> = {}): Cli {
    const child = spawn(process.execPath, [program, ...argv], {
      cwd: this.directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', TMPDIR: this.temporary, ...variables },
    })
    this.children.push(child)
    const text = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (more: string) => {
        text[name] += more
      })
    const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(code ?? signal))
    })
    return { child, ended, stdout: () => text.stdout, stderr: () => text.stderr }
  }

  async run(argv: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    const cli = this.start(argv, variables)
    const exit = await cli.ended
    return { exit, stdout: cli.stdout(), stderr: cli.stderr() }
  }

  /** `eval` of notes; `config` is the agent's, see notes.ts. */
  notes(config: Readonly<Record<string, unknown>>, ...more: string[]): string[] {
    const agentConfig = JSON.stringify({ directory: this.directory, ...config })
    return [
      'eval',
      'tasks.ts',
      'agent.mjs',
      '--all',
      '--threads',
      '1',
      '--agent-config',
      agentConfig,
      '--json',
      ...more,
    ]
  }

  /** Lets agents that wait go on. */
  go(): void {
    writeFileSync(join(this.directory, 'go'), '')
  }

  /** One `note n.seed` for each time that an agent began to work. */
  starts(): string[] {
    const file = join(this.directory, 'starts')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  /** Durable runs, read beside whoever writes them. */
  async durable(): Promise<readonly RunHeader[]> {
    if (!existsSync(join(this.journal, 'data.mdb')) && !existsSync(this.journal)) return []
    const journal = await openLmdbJournal({
      directory: this.journal,
      clock: systemClock,
      role: 'owner',
      readOnly: true,
    }).catch(() => undefined) // Half made: nothing is durable yet.
    if (journal === undefined) return []
    try {
      const runs: RunHeader[] = []
      for (const { jobId } of await journal.jobs()) for await (const run of journal.runs(jobId)) runs.push(run)
      return runs
    } finally {
      await journal.close()
    }
  }

  /** Processes that use the scene's temporary directory: hosts by their arguments, sandboxes by what is mounted in them. */
  processes(): number[] {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(Number)
      .filter(pid => ['environ', 'cmdline', 'mountinfo'].some(file => readProc(pid, file).includes(this.temporary)))
  }

  /** The environment host's process id; throws unless there is just one. */
  host(): number {
    const named = this.processes().filter(pid => readProc(pid, 'cmdline').startsWith('troupe-environment'))
    // A child of the host has its command line until it has become the program that it is to be.
    const [host, ...others] = named.filter(
      pid => !named.includes(Number(/^PPid:\s*(\d+)$/m.exec(readProc(pid, 'status'))?.[1])),
    )
    if (host === undefined || others.length > 0) throw new Error(`not one host: ${this.leftovers().join(', ')}`)
    return host
  }

  /** What runs left behind: processes, and all that is in the temporary directory, sockets among it. */
  leftovers(): string[] {
    return [...this.processes().map(describe), ...readdirSync(this.temporary)]
  }

  async end(): Promise<void> {
    for (const child of this.children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** In library tests this process's own temporary directory is the scene's too. */
export async function withScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = new Scene(await mkdtemp(join(tmpdir(), 'e2e-')))
  const outer = process.env.TMPDIR
  // Sandboxes have users of their own, who must be able to pass through to their workspaces.
  await chmod(scene.directory, 0o711)
  await mkdir(scene.temporary, { mode: 0o711 })
  await writeFile(join(scene.directory, 'env.ts'), NOTE_ENVIRONMENT)
  await writeFile(join(scene.directory, 'tasks.ts'), NOTE_TASKS)
  await writeFile(join(scene.directory, 'agent.mjs'), NOTE_AGENT)
  process.env.TMPDIR = scene.temporary
  try {
    await body(scene)
  } finally {
    if (outer === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = outer
    await scene.end()
  }
}

const POLL_MS = 20

/** Waits for something that can be seen from outside, and for `withinMs` at most. */
export async function until(
  seen: () => boolean | Promise<boolean>,
  what: () => string,
  withinMs = 25_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await seen())) {
    if (performance.now() > deadline) throw new Error(`not seen within ${withinMs / 1_000} s: ${what()}`)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

function describe(pid: number): string {
  return `process ${pid}: ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`
}

function readProc(pid: number, file: string): string {
  try {
    // A zombie has ended: whoever started it has only not looked yet.
    readlinkSync(`/proc/${pid}/exe`)
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // It ended meanwhile, or is a kernel thread.
    return ''
  }
}

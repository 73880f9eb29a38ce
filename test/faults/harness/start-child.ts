import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { RunOptions } from '../../../src/job/options.ts'
import type { Kept } from './conservation.ts'
import type { FaultJob, Outcome } from './perform.ts'
import type { FaultScene } from './scene.ts'

/** A job as data. */
export interface ChildJob extends Pick<FaultJob, 'groups' | 'members' | 'seed'> {
  /** Of each trajectory. */
  readonly bytes: number
  /** How many descriptors it has left when it begins. Default: what the system gives. */
  readonly spare?: number
  readonly options: Pick<RunOptions, 'threads' | 'maxConcurrent' | 'retries'>
}

/** How the child ended. */
export interface ChildEnd {
  /** Exit code or signal. */
  readonly exit: number | NodeJS.Signals | null
  /** Undefined where it died before it could tell. */
  readonly outcome: Outcome | undefined
  /** As the child read it. */
  readonly kept: Kept | undefined
  readonly stderr: string
}

const program = fileURLToPath(new URL('./child.js', import.meta.url))
const CHILD_MS = 60_000

/** Runs the job under a limit of the shell's: `-f 4000` (KiB that a file may have), `-n 64` (open descriptors). */
export function runLimited(scene: FaultScene, limit: string, job: ChildJob): Promise<ChildEnd> {
  return run(scene, job, ['bash', '-c', `ulimit ${limit}; exec "$@"`, 'bash'])
}

/** Runs the job with its journal on a disk of so many bytes, which nobody else sees. */
export function runOnSmallDisk(scene: FaultScene, diskBytes: number, job: ChildJob): Promise<ChildEnd> {
  const disk = ['--size', String(diskBytes), '--tmpfs', scene.journal]
  return run(scene, job, ['bwrap', '--dev-bind', '/', '/', ...disk, '--die-with-parent', '--'])
}

/** Runs the job and nothing else. */
export function runAlone(scene: FaultScene, job: ChildJob): Promise<ChildEnd> {
  return run(scene, job, ['env'])
}

async function run(scene: FaultScene, job: ChildJob, before: readonly [string, ...string[]]): Promise<ChildEnd> {
  const [command, ...argv] = [...before, process.execPath, program, scene.directory, JSON.stringify(job)]
  const child = spawn(command ?? '', argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: process.env,
    timeout: CHILD_MS,
    killSignal: 'SIGKILL',
  })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (more: string) => {
      text[name] += more
    })
  const exit = await new Promise<ChildEnd['exit']>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  const said = text.stdout === '' ? {} : (JSON.parse(text.stdout) as Partial<ChildEnd>)
  return { exit, outcome: said.outcome, kept: said.kept, stderr: text.stderr }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { systemClock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import { makeBenchDirectory } from '../../directory.ts'
import { treeOf } from '../process-tree.ts'

const KEPT_TEXT = 4_000

const reply = z.union([
  z.object({ id: z.number(), ok: z.literal(true), value: z.unknown() }),
  z.object({ id: z.number(), ok: z.literal(false), message: z.string() }),
])

/** A program that is asked in lines of JSON on its standard input and answers on its standard output. */
export interface Answering {
  readonly pid: number
  /** Where it is at home: a directory of its own, which goes with it. */
  readonly home: string
  /** Rejects with `hud-lost`: what went wrong there, or that nothing came in time. */
  call(name: string, given: object, deadlineMs: number): Promise<unknown>
  /** Lets it give back what it holds; after `graceMs` it and all its children are killed. Twice is once. */
  end(graceMs: number): Promise<void>
}

export interface AnsweringSettings {
  /** Beside PATH, LANG and HOME; it inherits no others. */
  readonly variables?: Readonly<Record<string, string>>
  /** Lays out its home before it starts. */
  readonly prepare?: (home: string) => void
}

/** Starts it with a home of its own and none of our variables, so that it finds no account to report to. */
export async function startAnswering(
  argv: readonly [program: string, script: string],
  { variables = {}, prepare = () => {} }: AnsweringSettings = {},
): Promise<Answering> {
  const { directory: home, remove } = await makeBenchDirectory()
  prepare(home)
  const child = spawn(argv[0], argv.slice(1), {
    cwd: home,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: home, ...variables },
  })
  const exited = once(child, 'exit')
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  const lost = (why: string) => new TroupeError({ tag: 'hud-lost', message: `HUD's process: ${why}` })
  let complaints = ''
  let lastId = 0
  let ended: Promise<void> | undefined
  child.stderr.on('data', (bytes: Buffer) => {
    complaints = (complaints + bytes.toString('utf8')).slice(-KEPT_TEXT)
  })
  child.stdin.on('error', () => {}) // it has ended, which `exit` tells
  child.on('exit', (code, signal) => {
    for (const { reject } of pending.values()) reject(lost(`it ended (${signal ?? code}): ${complaints}`))
    pending.clear()
  })
  createInterface({ input: child.stdout }).on('line', line => {
    const answer = reply.parse(JSON.parse(line))
    const waiting = pending.get(answer.id)
    pending.delete(answer.id)
    if (answer.ok) waiting?.resolve(answer.value)
    else waiting?.reject(lost(answer.message))
  })

  function call(name: string, given: object, deadlineMs: number): Promise<unknown> {
    const id = ++lastId
    return new Promise((resolve, reject) => {
      if (child.exitCode !== null || child.signalCode !== null) return reject(lost(`it has ended: ${complaints}`))
      const cancel = systemClock.after(deadlineMs, () => {
        pending.delete(id)
        reject(lost(`no answer to ${name} within ${deadlineMs / 1_000} s: ${complaints}`))
      })
      pending.set(id, {
        resolve(value) {
          cancel()
          resolve(value)
        },
        reject(error) {
          cancel()
          reject(error)
        },
      })
      child.stdin.write(`${JSON.stringify({ id, call: name, arguments: given })}\n`)
    })
  }

  async function end(graceMs: number): Promise<void> {
    child.stdin.end()
    const cancel = systemClock.after(graceMs, () => {
      for (const pid of treeOf(child.pid ?? 0)) kill(pid)
    })
    if (child.exitCode === null && child.signalCode === null) await exited
    cancel()
    remove()
  }

  if (child.pid === undefined) {
    await exited.catch(() => {})
    remove()
    throw lost(`${argv[0]} cannot be started`)
  }
  return { pid: child.pid, home, call, end: graceMs => (ended ??= end(graceMs)) }
}

function kill(pid: number): void {
  if (pid <= 0) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // One that has ended meanwhile is what was wanted; one that may not be killed is not.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

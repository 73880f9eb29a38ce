import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { systemClock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import type { EmulatorPlace } from '../../../src/ladder/process/calls.ts'
import { makeBenchDirectory } from '../../directory.ts'
import { treeOf } from '../process-tree.ts'

const peer = fileURLToPath(new URL('../../../../bench/peers/hud/peer.py', import.meta.url))
/** What the SDK is told to reach the gateway by: it takes a host, and the port of an alias. */
const GATEWAY = 'troupe-emulator'
const KEPT_TEXT = 4_000

const figures = z.object({
  wallMs: z.number(),
  /** Of the process, and of the children that it has waited for. */
  ownCpuMs: z.number(),
  childCpuMs: z.number(),
  loopP99Ms: z.number(),
})
export type HudFigures = z.infer<typeof figures>

const usable = figures.extend({ usableMs: z.array(z.number()), failures: z.array(z.string()) })
export type HudUsable = z.infer<typeof usable>

const reply = z.union([
  z.object({ id: z.number(), ok: z.literal(true), value: z.unknown() }),
  z.object({ id: z.number(), ok: z.literal(false), message: z.string() }),
])

/** HUD's SDK in a process of its own. Calls are made one after the other. */
export interface HudProcess {
  readonly pid: number
  rollouts(
    asked: { runtime: 'local' | 'subprocess'; rollouts: number; width: number },
    deadlineMs: number,
  ): Promise<HudFigures>
  /** So many sandboxes at once, acquired, said `hello` to and given back. */
  usable(asked: { width: number; snapshot: string }, deadlineMs: number): Promise<HudUsable>
  /** Lets it give back what it holds; after `graceMs` it and all its children are killed. Twice is once. */
  end(graceMs: number): Promise<void>
}

export interface HudSettings {
  readonly place?: EmulatorPlace
  /**
   * Without root certificates, which nothing on this machine needs: the SDK reads them twice for each sandbox, and how long that
   * takes says more about OpenSSL than about it. Default no: as it comes.
   */
  readonly lean?: boolean
  /** The program, for tests. */
  readonly script?: string
}

/** Starts it with a home of its own and none of our variables, so that it finds no account to report to. */
export async function startHud(
  python: string,
  { place, lean = false, script = peer }: HudSettings = {},
): Promise<HudProcess> {
  const { directory: home, remove } = await makeBenchDirectory()
  if (place !== undefined) writeSshAlias(home, place.sshPort)
  const child = spawn(python, [script], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: home,
      ...(lean ? { SSL_CERT_FILE: '/dev/null' } : {}),
      ...(place === undefined ? {} : { DAYTONA_API_URL: place.url, DAYTONA_API_KEY: place.apiKey }),
    },
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
    throw lost(`${python} cannot be started`)
  }
  return {
    pid: child.pid,
    rollouts: async (asked, deadlineMs) => figures.parse(await call('rollouts', asked, deadlineMs)),
    usable: async (asked, deadlineMs) => usable.parse(await call('usable', { ...asked, gateway: GATEWAY }, deadlineMs)),
    end: graceMs => (ended ??= end(graceMs)),
  }
}

function writeSshAlias(home: string, port: number): void {
  mkdirSync(join(home, '.ssh'), { mode: 0o700 })
  writeFileSync(join(home, '.ssh', 'config'), `Host ${GATEWAY}\n  HostName 127.0.0.1\n  Port ${port}\n`, {
    mode: 0o600,
  })
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

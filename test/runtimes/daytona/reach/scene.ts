import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox as SandboxDto } from '@daytona/api-client'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { portOf } from '../../../../src/emulator/gateway.ts'
import { type EmulatorOptions, startEmulator } from '../../../../src/emulator/index.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'
import {
  makeReach,
  type OpenRequest,
  type Reached,
  type ReachOptions,
} from '../../../../src/runtimes/daytona/reach/index.ts'
import { makeControlClient } from '../../../../src/wire/client.ts'
import { openShell } from '../../../../src/wire/open-shell.ts'

export const PORT = 8765
export const SERVE = `troupe serve environments/calc/env.ts --host 0.0.0.0 --port ${PORT} --insecure`

/** An account at an emulator of its own. */
export async function openScene(options: EmulatorOptions = {}) {
  const emulator = await startEmulator({ speed: 100, seed: 1, ...options })
  const account = await openAccount({ apiUrl: emulator.url, apiKey: emulator.apiKey, clock: systemClock })

  return {
    emulator,
    account,
    reach(transport: ReachOptions['transport'], through: Partial<Account> = {}) {
      return makeReach({ ...account, ...through }, { port: PORT, transport, clock: systemClock })
    },
    /** A sandbox that starts, and what `open` is to be told of it. */
    async create(command: string | undefined, more: Partial<OpenRequest> = {}): Promise<OpenRequest> {
      const { data } = await account.sandboxes.createSandbox({})
      return { ...describe(data), serve: command === undefined ? undefined : { command, variables: {} }, ...more }
    },
    async fork(parent: string): Promise<OpenRequest> {
      const { data } = await account.sandboxes.forkSandbox(parent, {})
      return { ...describe(data), serve: undefined }
    },
    async end() {
      await account.release()
      await emulator.close()
    },
  }

  function describe(known: SandboxDto) {
    const { id } = known
    const sandbox = account.events.reached(id, ['started'], { deadlineMs: 20_000, known })
    sandbox.catch(() => {}) // told where it is waited for
    return { id, sandbox, prewarm: false, signal: new AbortController().signal, deadlineMs: 20_000 }
  }
}

/** One whole rollout by hand: a task, a command in its shell, a grade. */
export async function rollOut({ address, sessionId }: Reached): Promise<unknown> {
  const client = makeControlClient()
  try {
    const session = await client.connect(address, {
      clock: systemClock,
      deadlineMs: 10_000,
      ...(sessionId === undefined ? {} : { sessionId }),
    })
    const { prompt } = await session.startTask('fix_calc', { variant: 1 })
    assert.match(JSON.stringify(prompt), /calc\.py/)
    const shell = await openShell(session, systemClock)
    const { stdout } = await shell.exec('ls')
    assert.match(stdout, /calc\.py/)
    await shell.close()
    const { score } = await session.grade('done')
    assert.ok(await session.end())
    return score
  } finally {
    await client.close()
  }
}

/** The object, with some of its methods in place of its own. */
export function override<Target extends object>(target: Target, methods: Partial<Target>): Target {
  const own = new Map<PropertyKey, unknown>(Object.entries(methods))
  return new Proxy(target, { get: (_, name) => own.get(name) ?? Reflect.get(target, name) })
}

/** Notes the names of the methods that are called. */
export function noteCalls<Target extends object>(target: Target, calls: string[]): Target {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.push(String(name))
        return value.apply(target, args)
      }
    },
  })
}

/** An HTTP server that turns every WebSocket away. */
export async function startRefuser() {
  let seen = 0
  const server = createHttpServer((_, response) => response.writeHead(404).end())
  server.on('upgrade', (_, socket) => {
    seen += 1
    socket.on('error', () => socket.destroy()) // the client is gone already
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    seen: () => seen,
    async close() {
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

/** Directories of tunnels that this process holds. */
export function tunnelDirectories(): readonly string[] {
  return readdirSync(tmpdir())
    .filter(name => name.startsWith('troupe-reach-'))
    .filter(name => {
      const owners = join(tmpdir(), name, 'owners')
      return existsSync(owners) && readFileSync(owners, 'utf8').includes(`"pid":${process.pid},`)
    })
}

/** A TCP relay whose connections can be cut, and counted. */
export async function startRelay(port: number) {
  const sockets = new Set<Socket>()
  let seen = 0
  const server = createServer({ noDelay: true }, near => {
    seen += 1
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    seen: () => seen,
    /** Resolves when nothing goes through it any more. */
    async idle() {
      while (sockets.size > 0) await new Promise(resolve => setImmediate(resolve))
    },
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

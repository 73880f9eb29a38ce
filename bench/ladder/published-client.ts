import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Daytona, type Sandbox } from '@daytonaio/sdk'
import ssh2, { type Client } from 'ssh2'
import { TroupeError } from '../../src/errors.ts'
import { type Acquired, acquireAll } from '../../src/ladder/client/acquire-all.ts'
import type { LadderClient } from '../../src/ladder/client/ladder-client.ts'
import { countByTag, makeErrorCount } from '../../src/ladder/error-count.ts'
import type { EmulatorPlace } from '../../src/ladder/process/calls.ts'

const SERVER_PORT = 8_765
const HELLO_RETRY_MS = 500
const HELLO_DEADLINE_MS = 120_000
const SSH_MINUTES = 60
const COMMAND = `hud serve env.py --host 0.0.0.0 --port ${SERVER_PORT}`
const HELLO = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'hello', params: {} })}\n`

/**
 * Works as the published client did: the unmodified SDK, and for each sandbox one call after the other: create, session, server,
 * SSH access, forward through the gateway, then `hello` every half second until it is answered.
 */
export function openPublishedClient(width: number, { url, apiKey, sshPort }: EmulatorPlace): LadderClient {
  const errors = makeErrorCount()
  const daytona = new Daytona({ apiUrl: url, apiKey })
  /** Those that are not given back yet, for an end before their time. */
  const made = new Set<Promise<Sandbox>>()

  async function acquire(): Promise<Acquired> {
    const from = performance.now()
    const askedAtMs = performance.timeOrigin + from
    const stages: Record<string, number> = {}
    const over = (stage: string) => {
      stages[stage] = performance.now() - from
    }
    const creating = daytona.create({ ephemeral: true })
    made.add(creating)
    creating.catch(() => made.delete(creating)) // told to whoever awaits it
    const sandbox = await creating
    over('create')
    let gateway: Client | undefined
    const giveBack = async () => {
      made.delete(creating)
      gateway?.end()
      await sandbox.delete()
    }
    try {
      await sandbox.process.createSession('serve')
      over('session')
      await sandbox.process.executeSessionCommand('serve', { command: COMMAND, runAsync: true })
      over('exec')
      const { token } = await sandbox.createSshAccess(SSH_MINUTES)
      over('access')
      gateway = await openGateway(sshPort, token)
      over('tunnel')
      await untilHello(gateway, sandbox, from + HELLO_DEADLINE_MS)
      over('hello')
    } catch (error) {
      await giveBack()
      throw error
    }
    return {
      sample: { sandbox: sandbox.name, askedAtMs, stages, usableMs: performance.now() - from, kind: 'cold' },
      giveBack,
    }
  }

  return {
    async warmUp() {
      await (await acquire()).giveBack()
    },
    async prepare() {},
    async run() {
      const held = await acquireAll(width, acquire)
      for (const failure of held.failures) errors.add(failure)
      return held
    },
    async books() {
      return undefined
    },
    // Whoever runs the emulator counts: the published client had no books.
    async leaked() {
      return 0
    },
    takeErrors: () => countByTag(errors.take()),
    async close() {
      await Promise.allSettled([...made].map(async each => (await each).delete()))
      await daytona[Symbol.asyncDispose]()
    },
  }
}

async function untilHello(gateway: Client, { id }: Sandbox, until: number): Promise<void> {
  while (!(await sayHello(gateway))) {
    if (performance.now() > until)
      throw new TroupeError({ tag: 'bench-no-hello', message: 'no hello was answered in time', address: id })
    await wait(HELLO_RETRY_MS)
  }
}

/** The user's name is the token. The socket is ours because ssh2 leaves Nagle on, which no ssh program does here. */
function openGateway(port: number, token: string): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.once('ready', () => resolve(client))
    client.on('error', reject)
    client.connect({ sock: connect({ host: '127.0.0.1', port, noDelay: true }), username: token })
  })
}

/** Whether `hello` is answered. The connection is closed again: the session belongs to whoever comes next. */
function sayHello(gateway: Client): Promise<boolean> {
  return new Promise(resolve => {
    gateway.forwardOut('127.0.0.1', 0, '127.0.0.1', SERVER_PORT, (error, channel) => {
      if (error !== undefined) return resolve(false)
      let text = ''
      channel.on('data', (bytes: Buffer) => {
        text += bytes.toString('utf8')
        if (!text.includes('\n')) return
        resolve(text.includes('"result"'))
        channel.end()
      })
      channel.on('close', () => resolve(false))
      channel.write(HELLO)
    })
  })
}

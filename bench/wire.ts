import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/clock.ts'
import { type Address, formatAddress } from '../src/wire/address.ts'
import { makeControlClient } from '../src/wire/client.ts'
import type { ControlClient } from '../src/wire/session.ts'
import type { BenchRow, BenchTable } from './table.ts'

const CONCURRENT = 256
const SESSIONS = 8_000
const QUICK_SESSIONS = 2_000
/** The aim of the issue for the wire's share of a multiplexed rollout, both processes together. */
const AIM_MS = 0.2
const WAYS = [
  ['never', 'tcp'],
  ['never', 'websocket'],
  ['auto', 'tcp'],
  ['auto', 'websocket'],
] as const

/** CPU time of a session that does nothing (connect, hello, start, grade, end), 256 at once, of the client's and the server's process apart. */
export async function wireBench(options: { readonly quick?: boolean } = {}): Promise<BenchTable> {
  const sessions = options.quick === true ? QUICK_SESSIONS : SESSIONS
  const host = fork(fileURLToPath(new URL('./wire-host.js', import.meta.url)))
  try {
    const [{ address }] = (await once(host, 'message')) as [{ address: Address }]
    const rows: BenchRow[] = []
    for (const [multiplex, transport] of WAYS) {
      const client = makeControlClient({ multiplex })
      const at = transport === 'websocket' ? throughWebSocket(address) : address
      await runSessions(client, at, sessions)
      const before = await readCpu(host)
      const startedAt = performance.now()
      await runSessions(client, at, sessions)
      const wallMs = performance.now() - startedAt
      const after = await readCpu(host)
      await client.close()
      const name = `${multiplex === 'never' ? 'a connection each' : 'multiplexed'}${transport === 'tcp' ? '' : ', WebSocket'}`
      const clientMs = (after.own - before.own) / 1_000 / sessions
      const serverMs = (after.host - before.host) / 1_000 / sessions
      const totalMs = clientMs + serverMs
      rows.push({ name: `${name}: client`, value: clientMs, unit: 'ms CPU a session' })
      rows.push({ name: `${name}: server`, value: serverMs, unit: 'ms CPU a session' })
      rows.push({
        name: `${name}: both`,
        value: totalMs,
        unit: 'ms CPU a session',
        ...(multiplex === 'auto' && transport === 'tcp' ? { aim: `at most ${AIM_MS} ms`, met: totalMs <= AIM_MS } : {}),
      })
      rows.push({ name: `${name}: rate`, value: sessions / (wallMs / 1_000), unit: 'sessions/s' })
    }
    return { title: `no-op sessions, ${CONCURRENT} at once`, rows }
  } finally {
    host.disconnect()
    await once(host, 'exit')
  }
}

/** The same server on the same port, as one behind a proxy is reached. */
function throughWebSocket(address: Address): Address {
  return { kind: 'websocket', url: `ws://${formatAddress(address)}/`, headers: {} }
}

async function runSessions(client: ControlClient, address: Address, sessions: number): Promise<void> {
  let left = sessions
  const worker = async () => {
    while (left-- > 0) {
      const session = await client.connect(address, { clock: systemClock, deadlineMs: 30_000, ephemeral: true })
      await session.startTask('no-op', { variant: 3 })
      await session.grade('done')
      if (!(await session.end())) throw new Error('a session did not say goodbye')
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, worker))
}

async function readCpu(host: ChildProcess): Promise<{ own: number; host: number }> {
  host.send('cpu')
  const [{ cpuMicros }] = (await once(host, 'message')) as [{ cpuMicros: number }]
  const { user, system } = process.cpuUsage()
  return { own: user + system, host: cpuMicros }
}

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/clock.ts'
import { type Address, formatAddress } from '../src/wire/address.ts'
import { makeControlClient } from '../src/wire/client.ts'
import type { ControlClient } from '../src/wire/session.ts'
import type { Given } from './given.ts'
import { toCell, toFigure } from './measure.ts'
import { type BenchRow, type BenchTable, formatNumber } from './table.ts'

const CONCURRENT = 256
/** In a round, and how many rounds. */
const FULL = { sessions: 4_000, rounds: 5 }
const QUICK = { sessions: 512, rounds: 3 }
/** The aim for the wire's share of a multiplexed rollout, both processes together. */
const AIM_MS = 0.2
const WAYS = [
  { name: 'a connection each', multiplex: 'never', transport: 'tcp' },
  { name: 'a connection each, WebSocket', multiplex: 'never', transport: 'websocket' },
  { name: 'multiplexed', multiplex: 'auto', transport: 'tcp' },
  { name: 'multiplexed, WebSocket', multiplex: 'auto', transport: 'websocket' },
] as const
type WayName = (typeof WAYS)[number]['name']

/** One round of one way, for a session. */
interface Sample {
  readonly clientMs: number
  readonly serverMs: number
  readonly perSecond: number
}

/**
 * CPU time of a session that does nothing (connect, hello, start, grade, end), 256 at once, of the client's and the server's process apart. The ways
 * take turns.
 */
export async function wireBench({ quick, signal }: Given): Promise<BenchTable> {
  const { sessions, rounds } = quick ? QUICK : FULL
  const host = fork(fileURLToPath(new URL('./wire-host.js', import.meta.url)))
  const samples = new Map<WayName, Sample[]>(WAYS.map(({ name }) => [name, []]))
  try {
    const [{ address }] = (await once(host, 'message')) as [{ address: Address }]
    for (let round = 0; round <= rounds && signal?.aborted !== true; round += 1)
      for (const { name, multiplex, transport } of WAYS) {
        const at = transport === 'websocket' ? throughWebSocket(address) : address
        const sample = await measureWay(host, multiplex, at, sessions)
        // The first is for both processes to become warm.
        if (round > 0) samples.get(name)?.push(sample)
      }
  } finally {
    host.disconnect()
    await once(host, 'exit')
  }
  return { title: `no-op sessions, ${CONCURRENT} at once`, rows: WAYS.flatMap(({ name }) => toRows(name, samples)) }
}

function toRows(name: WayName, samples: ReadonlyMap<WayName, readonly Sample[]>): readonly BenchRow[] {
  const figure = (of: WayName, read: (sample: Sample) => number) => toFigure((samples.get(of) ?? []).map(read))
  const both = figure(name, ({ clientMs, serverMs }) => clientMs + serverMs)
  const each = figure('a connection each', ({ clientMs, serverMs }) => clientMs + serverMs).value
  return [
    {
      name: `${name}: client`,
      ...toCell(
        figure(name, ({ clientMs }) => clientMs),
        'ms CPU a session',
      ),
    },
    {
      name: `${name}: server`,
      ...toCell(
        figure(name, ({ serverMs }) => serverMs),
        'ms CPU a session',
      ),
    },
    {
      name: `${name}: both`,
      ...toCell(both, 'ms CPU a session'),
      ...(name === 'a connection each'
        ? {}
        : { reference: `a connection each ${formatNumber(each)} ms`, ratio: both.value / each }),
      ...(name === 'multiplexed' ? { aim: `at most ${AIM_MS} ms`, met: both.value <= AIM_MS } : {}),
    },
    {
      name: `${name}: rate`,
      ...toCell(
        figure(name, ({ perSecond }) => perSecond),
        'sessions/s',
      ),
    },
  ]
}

async function measureWay(
  host: ChildProcess,
  multiplex: 'never' | 'auto',
  address: Address,
  sessions: number,
): Promise<Sample> {
  const client = makeControlClient({ multiplex })
  try {
    const before = await readCpu(host)
    const startedAt = performance.now()
    await runSessions(client, address, sessions)
    const wallMs = performance.now() - startedAt
    const after = await readCpu(host)
    return {
      clientMs: (after.own - before.own) / 1_000 / sessions,
      serverMs: (after.host - before.host) / 1_000 / sessions,
      perSecond: (sessions / wallMs) * 1_000,
    }
  } finally {
    await client.close()
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

import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MessageChannel, Worker } from 'node:worker_threads'
import { wrap } from 'comlink'
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs'
import { Piscina } from 'piscina'
import workerpool from 'workerpool'
import { startBareThread } from '../../kernel/bare.ts'
import { startOurs } from '../../kernel/far.ts'
import { inFlight, median } from '../../kernel/measure.ts'
import { type Double, howMany, tick } from '../../kernel/messages.ts'
import type { Doubler } from './comlink-thread.ts'
import type { Bout } from './near.ts'
import type { PortQuestion } from './port-thread.ts'

const BURST = 50_000
const QUESTIONS = 5_000
/** Of each peer in a round. */
const LONE = 300
const DEADLINE_MS = 10_000
const OPEN = 1_000
const VALUE = 21

const threadOf = (name: string) => new URL(`./${name}-thread.js`, import.meta.url)

/** One worker thread each, asked to double a number. Of the peers only a bare port can be told something without an answer. */
export async function openFar(): Promise<FarBout> {
  const bare = await startBareThread()
  const ours = await startOurs()
  const { system, actor } = ours
  const question: Double = { type: 'double', value: VALUE }
  const peers = [
    { name: 'ours', ask: () => system.ask(actor, question, DEADLINE_MS), close: () => ours.close() },
    await openPort(),
    await openComlink(),
    openWorkerpool(),
    openPiscina(),
  ]
  for (const { name, ask } of peers) if ((await ask()) !== VALUE * 2) throw new Error(`${name} cannot double`)
  return {
    cases: [
      {
        name: 'far tell ours',
        operations: BURST,
        async run() {
          for (let index = 0; index < BURST; index += 1) actor.tell(tick(index))
          await system.ask(actor, howMany, DEADLINE_MS)
        },
      },
      { name: 'far tell MessagePort', operations: BURST, run: () => bare.tell(BURST) },
      ...peers.map(({ name, ask }) => ({
        name: `far ask ${name}`,
        operations: QUESTIONS,
        run: () => inFlight(QUESTIONS, ask),
      })),
    ],
    lone: rounds => loneLatencies(peers, rounds),
    async close() {
      for (const peer of peers) await peer.close()
      await bare.close()
    },
  }
}

export interface FarBout extends Bout {
  /** Median microseconds of single round trips, by name of the peer. */
  lone(rounds: number): Promise<ReadonlyMap<string, number>>
}

/** The peers take turns one by one: how long a sleeping thread takes to wake changes from one moment to the next, and decides all. */
async function loneLatencies(peers: readonly FarPeer[], rounds: number): Promise<ReadonlyMap<string, number>> {
  const samples = new Map(peers.map(({ name }) => [name, [] as number[]]))
  for (let index = 0; index < rounds * LONE; index += 1)
    for (const { name, ask } of peers) {
      const startedAt = performance.now()
      await ask()
      samples.get(name)?.push((performance.now() - startedAt) * 1_000)
    }
  return new Map([...samples].map(([name, values]) => [name, median(values)]))
}

interface FarPeer {
  readonly name: string
  ask(): Promise<unknown>
  close(): Promise<unknown>
}

/** A channel of its own to the thread, and a map of who waits for what: the least that answers can be told apart by. */
async function openPort(): Promise<FarPeer> {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(threadOf('port'), { workerData: { port: port2 }, transferList: [port2] })
  await once(worker, 'online')
  const open = new Map<number, (value: number) => void>()
  let lastId = 0
  port1.on('message', ({ id, value }: PortQuestion) => {
    open.get(id)?.(value)
    open.delete(id)
  })
  return {
    name: 'MessagePort',
    ask: () =>
      new Promise<number>(resolve => {
        lastId += 1
        open.set(lastId, resolve)
        port1.postMessage({ id: lastId, value: VALUE } satisfies PortQuestion)
      }),
    async close() {
      port1.close()
      await worker.terminate()
    },
  }
}

async function openComlink(): Promise<FarPeer> {
  const worker = new Worker(threadOf('comlink'))
  await once(worker, 'online')
  const doubler = wrap<Doubler>(nodeEndpoint(worker))
  return { name: 'comlink', ask: () => doubler.double(VALUE), close: () => worker.terminate() }
}

function openWorkerpool(): FarPeer {
  const pool = workerpool.pool(fileURLToPath(threadOf('workerpool')), { maxWorkers: 1, workerType: 'thread' })
  return { name: 'workerpool', ask: async () => pool.exec('double', [VALUE]), close: async () => pool.terminate() }
}

/** With as many tasks in the thread at once as are asked, which is the fastest that it has. */
function openPiscina(): FarPeer {
  const pool = new Piscina({
    filename: fileURLToPath(threadOf('piscina')),
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: OPEN,
  })
  return { name: 'piscina', ask: () => pool.run(VALUE), close: () => pool.destroy() }
}

import type { Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem } from '../../src/kernel/system.ts'
import { startThreads } from '../../src/threads/pool.ts'
import type { BenchTable } from '../table.ts'
import { startBareThread } from './bare.ts'
import { inFlight, measure, median } from './measure.ts'
import { type BenchMessage, type Double, howMany, tick } from './messages.ts'

const BURST = 50_000
const QUESTIONS = 20_000

/** Actors in a worker thread, beside bare `postMessage` to one. */
export async function farRows(quick: boolean): Promise<BenchTable['rows']> {
  const bare = await startBareThread()
  const ours = await startOurs()
  const { system, actor } = ours
  const double: Double = { type: 'double', value: 21 }
  const rounds = quick ? 3 : 9
  const rates = await measure(
    [
      { name: 'bare tell', operations: BURST, run: () => bare.tell(BURST) },
      {
        name: 'tell',
        operations: BURST,
        async run() {
          for (let index = 0; index < BURST; index += 1) actor.tell(tick(index))
          await system.ask(actor, howMany, 10_000)
        },
      },
      { name: 'arrays', operations: BURST, run: () => bare.tellInArrays(BURST) },
      { name: 'bare pipelined', operations: QUESTIONS, run: () => inFlight(QUESTIONS, () => bare.ask(double)) },
      {
        name: 'pipelined',
        operations: QUESTIONS,
        run: () => inFlight(QUESTIONS, () => system.ask(actor, double, 10_000)),
      },
      {
        name: 'bare awaited',
        operations: 500,
        async run() {
          for (let index = 0; index < 500; index += 1) await bare.ask(double)
        },
      },
    ],
    rounds,
  )
  const lone = await loneLatencies(
    { bare: () => bare.ask(double), ours: () => system.ask(actor, double, 10_000) },
    rounds,
  )
  await bare.close()
  await ours.close()
  return toRows(rates, lone)
}

/**
 * The median of single round trips in microseconds, the two taking turns one by one: how long a sleeping thread takes to wake
 * changes from one moment to the next, and decides both.
 */
async function loneLatencies(
  asks: { readonly bare: () => Promise<unknown>; readonly ours: () => Promise<unknown> },
  rounds: number,
): Promise<{ readonly bare: number; readonly ours: number }> {
  const samples = { bare: [] as number[], ours: [] as number[] }
  for (let index = 0; index < rounds * 300; index += 1)
    for (const side of ['bare', 'ours'] as const) {
      const startedAt = performance.now()
      await asks[side]()
      samples[side].push((performance.now() - startedAt) * 1_000)
    }
  return { bare: median(samples.bare), ours: median(samples.ours) }
}

/** A thread of the engine's pool with one actor in it. */
export async function startOurs(): Promise<{ system: ActorSystem; actor: Ref<BenchMessage>; close(): Promise<void> }> {
  const system = makeSystem({ node: 'bench' })
  let address = ''
  const pool = startThreads({
    threads: 1,
    entry: new URL('./shard.js', import.meta.url),
    data: undefined,
    system,
    onUp({ root }) {
      address = root.address
    },
    onDown(_node, error) {
      throw new Error(error.message)
    },
  })
  await pool.started
  return {
    system,
    actor: system.ref(address),
    async close() {
      await pool.close(5_000)
      await system.stop()
    },
  }
}

function toRows(
  rates: ReadonlyMap<string, number>,
  lone: { readonly bare: number; readonly ours: number },
): BenchTable['rows'] {
  const compare = (name: string, ours: string, label: string, reference: string, aim: number) => {
    const value = (rates.get(ours) ?? 0) / 1e6
    const against = (rates.get(reference) ?? 0) / 1e6
    return {
      name,
      value,
      unit: 'M/s',
      reference: `${label} ${against.toFixed(3)} M/s`,
      ratio: value / against,
      aim: `>= ${aim} x`,
      met: value / against >= aim,
    }
  }
  return [
    compare('tell, to a thread', 'tell', 'bare postMessage', 'bare tell', 6),
    compare('tell, to a thread', 'tell', 'structured-clone arrays', 'arrays', 1.5),
    compare('ask, to a thread, 1,000 open', 'pipelined', 'bare, 1,000 open', 'bare pipelined', 3.5),
    compare('ask, to a thread, 1,000 open', 'pipelined', 'bare, awaited', 'bare awaited', 20),
    {
      name: 'lone ask, to a thread, p50',
      value: lone.ours,
      unit: 'µs',
      reference: `bare round trip ${lone.bare.toFixed(0)} µs`,
      ratio: lone.ours / lone.bare,
      aim: '<= 2 x',
      met: lone.ours / lone.bare <= 2,
    },
  ]
}

import type { Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem } from '../../src/kernel/system.ts'
import { startThreads } from '../../src/threads/pool.ts'
import type { Given } from '../given.ts'
import { type Figure, inFlight, mapFigure, measureRates, median, toFigure } from '../measure.ts'
import { type BenchRow, type BenchTable, formatNumber } from '../table.ts'
import { startBareThread } from './bare.ts'
import { type BenchMessage, type Double, howMany, tick } from './messages.ts'

const BURST = 50_000
const QUESTIONS = 20_000
/** Of each side in a round. */
const LONE = 300

/** Actors in a worker thread, beside bare `postMessage` to one. */
export async function farRows({ quick, signal }: Given): Promise<BenchTable['rows']> {
  const bare = await startBareThread()
  const ours = await startOurs()
  const { system, actor } = ours
  const double: Double = { type: 'double', value: 21 }
  const rounds = quick ? 3 : 9
  try {
    const rateOf = await measureRates(
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
      signal,
    )
    const lone = await loneLatencies(
      { bare: () => bare.ask(double), ours: () => system.ask(actor, double, 10_000) },
      rounds,
      signal,
    )
    return toRows(rateOf, lone)
  } finally {
    await bare.close()
    await ours.close()
  }
}

/**
 * Single round trips in microseconds, a sample the median of a round; the two take turns one by one: how long a sleeping thread takes to wake
 * changes from one moment to the next, and decides both.
 */
async function loneLatencies(
  asks: { readonly bare: () => Promise<unknown>; readonly ours: () => Promise<unknown> },
  rounds: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly bare: Figure; readonly ours: Figure }> {
  const medians = { bare: [] as number[], ours: [] as number[] }
  for (let round = 0; round < rounds && signal?.aborted !== true; round += 1) {
    const samples = { bare: [] as number[], ours: [] as number[] }
    for (let index = 0; index < LONE; index += 1)
      for (const side of ['bare', 'ours'] as const) {
        const startedAt = performance.now()
        await asks[side]()
        samples[side].push((performance.now() - startedAt) * 1_000)
      }
    for (const side of ['bare', 'ours'] as const) medians[side].push(median(samples[side]))
  }
  return { bare: toFigure(medians.bare), ours: toFigure(medians.ours) }
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
  rateOf: (name: string) => Figure,
  lone: { readonly bare: Figure; readonly ours: Figure },
): BenchTable['rows'] {
  const millions = (name: string) => mapFigure(rateOf(name), perSecond => perSecond / 1e6)
  const compare = (name: string, ours: string, label: string, reference: string, aim: number): BenchRow => {
    const { value, spread } = millions(ours)
    const against = millions(reference).value
    return {
      name,
      value,
      spread,
      unit: 'M/s',
      reference: `${label} ${formatNumber(against)} M/s`,
      ratio: value / against,
      aim: `>= ${aim} x`,
      met: value / against >= aim,
    }
  }
  const loneRatio = lone.ours.value / lone.bare.value
  return [
    compare('tell, to a thread', 'tell', 'bare postMessage', 'bare tell', 6),
    compare('tell, to a thread', 'tell', 'structured-clone arrays', 'arrays', 1.5),
    compare('ask, to a thread, 1,000 open', 'pipelined', 'bare, 1,000 open', 'bare pipelined', 3.5),
    compare('ask, to a thread, 1,000 open', 'pipelined', 'bare, awaited', 'bare awaited', 20),
    {
      name: 'lone ask, to a thread, p50',
      value: lone.ours.value,
      spread: lone.ours.spread,
      unit: 'µs',
      reference: `bare round trip ${lone.bare.value.toFixed(0)} µs`,
      ratio: loneRatio,
      aim: '<= 2 x',
      met: loneRatio <= 2,
    },
  ]
}

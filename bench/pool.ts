import type { Given } from './given.ts'
import { type Case, mapFigure, measureRates, median, toCell, toFigure, toMicros } from './measure.ts'
import { type Cycle, openPoolActor, type PoolActor } from './pool/actor.ts'
import { makeTurner, type Standing } from './pool/turner.ts'
import { type BenchRow, type BenchTable, formatNumber } from './table.ts'

const SIZES = [256, 1_024, 10_000] as const
const [NARROW] = SIZES
const STANDINGS: readonly { readonly standing: Standing; readonly name: string }[] = [
  { standing: 'shelf', name: 'hits from the shelf' },
  { standing: 'queue', name: 'all leased, as many wait' },
]
/** In one sample, of each size alike. */
const LEASES = 2_000
const READY = 256
const CYCLES = 2_000
const AT_ONCE = 128
const LATENCIES = 1_000

/**
 * What the sandbox pool itself costs. Its pure part, with a provider that answers at once, however many sandboxes there are: a lease is not to cost
 * more among 10,000 than among 256. Then as an actor: leases taken and given back, 128 at a time, and how long one takes to get that is on the shelf.
 */
export async function poolBench({ quick, signal }: Given): Promise<BenchTable> {
  const rounds = quick ? 5 : 9
  const pure = await pureRows(rounds, signal)
  const actor = await openPoolActor(READY)
  try {
    const rows = [...pure, ...(await actorRows(actor, rounds, signal))]
    return { title: 'the sandbox pool, without a provider', rows }
  } finally {
    await actor.close()
  }
}

async function pureRows(rounds: number, signal: AbortSignal | undefined): Promise<readonly BenchRow[]> {
  const sides = STANDINGS.flatMap(({ standing, name }) =>
    SIZES.map(sandboxes => ({ key: `${name}, ${sandboxes}`, standing, turner: makeTurner(sandboxes, standing) })),
  )
  const cases = sides.map(
    ({ key, turner }): Case => ({ name: key, operations: LEASES, run: () => turner.turn(LEASES) }),
  )
  const rateOf = await measureRates(cases, rounds, signal)
  const eventsALease = new Map(sides.map(({ key, turner }) => [key, countEventsALease(turner)]))
  return STANDINGS.flatMap(({ name }) =>
    SIZES.flatMap((sandboxes): BenchRow[] => {
      const key = `${name}, ${sandboxes}`
      const rate = rateOf(key)
      const events = mapFigure(rate, perSecond => perSecond * (eventsALease.get(key) ?? Number.NaN))
      const micros = toMicros(rate)
      const narrow = toMicros(rateOf(`${name}, ${NARROW}`)).value
      return [
        { name: `${name}, ${sandboxes.toLocaleString('en')} sandboxes`, ...toCell(rate, 'leases/s') },
        { name: '  of them', ...toCell(events, 'events/s') },
        {
          name: '  one lease',
          ...toCell(micros, 'µs'),
          ...(sandboxes === NARROW ? {} : flat(micros.value, narrow)),
        },
      ]
    }),
  )
}

function countEventsALease(turner: ReturnType<typeof makeTurner>): number {
  const before = turner.events
  turner.turn(NARROW)
  return (turner.events - before) / NARROW
}

function flat(value: number, narrow: number) {
  const ratio = value / narrow
  const reference = `${NARROW} sandboxes ${formatNumber(narrow)} µs`
  return { reference, ratio, aim: '<= 2 x', met: ratio <= 2 }
}

async function actorRows(
  actor: PoolActor,
  rounds: number,
  signal: AbortSignal | undefined,
): Promise<readonly BenchRow[]> {
  const given: Cycle[] = []
  const cycles = { name: 'cycles', operations: CYCLES, run: async () => void given.push(...(await runCycles(actor))) }
  const rateOf = await measureRates([cycles], rounds, signal)
  const p50: number[] = []
  const p99: number[] = []
  for (let round = 0; round < rounds && signal?.aborted !== true; round += 1) {
    const hits: number[] = []
    while (hits.length < LATENCIES) {
      const { kind, tookMs } = await actor.cycle()
      if (kind === 'hit') hits.push(tookMs * 1_000)
    }
    hits.sort((left, right) => left - right)
    p50.push(median(hits))
    p99.push(hits[Math.floor(LATENCIES * 0.99)] ?? Number.NaN)
  }
  const hitShare = given.filter(({ kind }) => kind === 'hit').length / given.length
  return [
    { name: `actor: lease and release, ${AT_ONCE} at a time`, ...toCell(rateOf('cycles'), 'leases/s') },
    { name: '  of them hits, no lease being held', value: hitShare * 100, unit: '%' },
    { name: 'actor: one hit at a time, p50', ...toCell(toFigure(p50), 'µs') },
    { name: 'actor: one hit at a time, p99', ...toCell(toFigure(p99), 'µs') },
  ]
}

async function runCycles(actor: PoolActor): Promise<readonly Cycle[]> {
  const cycles: Cycle[] = []
  let left = CYCLES
  const loop = async () => {
    while (left-- > 0) cycles.push(await actor.cycle())
  }
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
  return cycles
}

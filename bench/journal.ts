import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/clock.ts'
import { toJobId } from '../src/ids.ts'
import { type Journal, openLmdbJournal } from '../src/journal/index.ts'
import { packTrajectory, unpackTrajectory } from '../src/rollout/pack.ts'
import { makeBenchDirectory } from './directory.ts'
import type { Given } from './given.ts'
import { type Figure, measureRates, repeated, toCell, toFigure, toMicros } from './measure.ts'
import { type BenchTable, formatNumber } from './table.ts'
import { makeBenchHeader, makeRealSizeTrajectory, toPlainArrays } from './trajectories.ts'

/** Of each kind in a round. */
const BATCHED_RUNS = 1_000
const AWAITED_RUNS = 100

/** What it costs to keep a run of real size: packing it, and putting it into the journal until it is durable, beside a file that is appended to and appended. */
export async function journalBench({ quick, signal }: Given): Promise<BenchTable> {
  const packed = packTrajectory(makeRealSizeTrajectory())
  const rounds = quick ? 3 : 7
  const packing = await measurePacking(rounds, signal)
  const { directory, remove } = await makeBenchDirectory()
  try {
    const { batched, awaited, appended, read } = await measureDisk(directory, packed, rounds, signal)
    const pack = packing('pack')
    const json = packing('json').value
    return {
      title: `runs of ${Math.round(packed.byteLength / 1_000)} KB packed, kept until they would survive the process`,
      rows: [
        {
          name: 'pack',
          ...toCell(pack, 'µs/run'),
          reference: `JSON.stringify ${formatNumber(json)} µs/run`,
          ratio: pack.value / json,
          aim: 'below 100 µs',
          met: pack.value < 100,
        },
        { name: 'unpack', ...toCell(packing('unpack'), 'µs/run') },
        {
          name: 'put, many in flight',
          ...toCell(batched, 'runs/s'),
          reference: `one awaited at a time ${formatNumber(awaited.value)} runs/s`,
          ratio: batched.value / awaited.value,
        },
        {
          name: 'put, one awaited at a time',
          ...toCell(awaited, 'runs/s'),
          reference: `append to a file ${formatNumber(appended.value)} runs/s`,
          ratio: awaited.value / appended.value,
        },
        { name: 'read headers in order', ...toCell(read, 'headers/s') },
      ],
    }
  } finally {
    remove()
  }
}

async function measurePacking(rounds: number, signal: AbortSignal | undefined): Promise<(name: string) => Figure> {
  const trajectory = makeRealSizeTrajectory()
  const packed = packTrajectory(trajectory)
  const rateOf = await measureRates(
    [
      repeated('pack', () => packTrajectory(trajectory)),
      repeated('unpack', () => unpackTrajectory(packed)),
      repeated('json', () => JSON.stringify(trajectory, toPlainArrays)),
    ],
    rounds,
    signal,
  )
  return name => toMicros(rateOf(name))
}

/** Runs a second. Each round puts other runs, into the same journal. */
async function measureDisk(directory: string, packed: Uint8Array, rounds: number, signal: AbortSignal | undefined) {
  const rates = { batched: [] as number[], awaited: [] as number[], appended: [] as number[], read: [] as number[] }
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
  let place = 0
  const put = () => {
    place += 1
    return journal.putRun(makeBenchHeader(place, 0, packed.byteLength), packed)
  }
  try {
    for (let round = 0; round < rounds && signal?.aborted !== true; round += 1) {
      rates.batched.push(await perSecond(BATCHED_RUNS, () => Promise.all(Array.from({ length: BATCHED_RUNS }, put))))
      rates.awaited.push(await perSecond(AWAITED_RUNS, () => oneByOne(AWAITED_RUNS, put)))
      rates.appended.push(await appendsPerSecond(join(directory, `plain-${round}`), packed))
      rates.read.push(await perSecond(place, () => readHeaders(journal)))
    }
  } finally {
    await journal.close()
  }
  const { batched, awaited, appended, read } = rates
  return { batched: toFigure(batched), awaited: toFigure(awaited), appended: toFigure(appended), read: toFigure(read) }
}

async function appendsPerSecond(path: string, packed: Uint8Array): Promise<number> {
  const file = await open(path, 'a')
  try {
    return await perSecond(AWAITED_RUNS, () => oneByOne(AWAITED_RUNS, () => file.writeFile(packed)))
  } finally {
    await file.close()
  }
}

async function oneByOne(count: number, work: () => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += 1) await work()
}

async function readHeaders(journal: Journal): Promise<void> {
  for await (const _header of journal.runs(toJobId('bench')));
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (count / (performance.now() - begun)) * 1_000
}

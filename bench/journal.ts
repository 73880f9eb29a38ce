import { systemClock } from '../src/clock.ts'
import { toJobId } from '../src/ids.ts'
import { type Journal, openLmdbJournal } from '../src/journal/index.ts'
import { packTrajectory, unpackTrajectory } from '../src/rollout/pack.ts'
import { makeBenchDirectory } from './directory.ts'
import type { BenchTable } from './table.ts'
import { makeBenchHeader, makeRealSizeTrajectory } from './trajectories.ts'

const PACKS = 3_000
const BATCHED_RUNS = 2_000
const AWAITED_RUNS = 300

/** What it costs to keep a run of real size: packing it, and putting it into the journal until it is durable. */
export async function journalBench(): Promise<BenchTable> {
  const trajectory = makeRealSizeTrajectory()
  const packed = packTrajectory(trajectory)
  const pack = timeMs(PACKS, () => packTrajectory(trajectory))
  const unpack = timeMs(PACKS, () => unpackTrajectory(packed))
  const json = timeMs(PACKS / 50, () => JSON.stringify(trajectory, toPlainArrays))
  const { directory, remove } = await makeBenchDirectory()
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
  try {
    const batched = await putsPerSecond(journal, 0, BATCHED_RUNS, packed, true)
    const awaited = await putsPerSecond(journal, BATCHED_RUNS, AWAITED_RUNS, packed, false)
    const read = await readMs(journal)
    return {
      title: `Journal: runs of ${Math.round(packed.byteLength / 1_000)} KB packed`,
      rows: [
        {
          name: 'pack',
          value: pack,
          unit: 'ms/run',
          reference: 'JSON.stringify',
          ratio: json / pack,
          aim: 'below 0.1 ms',
          met: pack < 0.1,
        },
        { name: 'unpack', value: unpack, unit: 'ms/run' },
        {
          name: 'put, many in flight',
          value: batched,
          unit: 'runs/s',
          reference: 'one awaited at a time',
          ratio: batched / awaited,
        },
        { name: 'put, one awaited at a time', value: awaited, unit: 'runs/s' },
        { name: `read ${BATCHED_RUNS + AWAITED_RUNS} headers in order`, value: read, unit: 'ms' },
      ],
    }
  } finally {
    await journal.close()
    remove()
  }
}

function timeMs(times: number, work: () => unknown): number {
  for (let warmUp = 0; warmUp < times / 5; warmUp += 1) work()
  const begun = performance.now()
  for (let round = 0; round < times; round += 1) work()
  return (performance.now() - begun) / times
}

async function putsPerSecond(
  journal: Journal,
  from: number,
  count: number,
  trajectory: Uint8Array,
  isBatched: boolean,
): Promise<number> {
  const begun = performance.now()
  const puts: Promise<void>[] = []
  for (let place = from; place < from + count; place += 1) {
    const put = journal.putRun(makeBenchHeader(place, 0, trajectory.byteLength), trajectory)
    if (isBatched) puts.push(put)
    else await put
  }
  await Promise.all(puts)
  return (count / (performance.now() - begun)) * 1_000
}

async function readMs(journal: Journal): Promise<number> {
  const begun = performance.now()
  for await (const _header of journal.runs(toJobId('bench')));
  return performance.now() - begun
}

function toPlainArrays(_key: string, value: unknown): unknown {
  return value instanceof Uint32Array || value instanceof Float32Array ? [...value] : value
}

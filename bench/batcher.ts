import { bufferCount, from, lastValueFrom, map } from 'rxjs'
import type { Group } from '../src/rollout/group.ts'
import { packTrajectory, toRun } from '../src/rollout/pack.ts'
import { chunkGroups } from '../src/stream/index.ts'
import type { Given } from './given.ts'
import { type Case, measureRates } from './measure.ts'
import { type BenchTable, formatNumber } from './table.ts'
import { makeBenchHeader, makeRealSizeTrajectory } from './trajectories.ts'

const GROUPS = 20_000
const GROUP_SIZE = 8
const CHUNK = 128

/**
 * What the batcher itself costs: groups of 8 into chunks of 128 runs, as they end and in planned order from behind. Beside it RxJS's own buffer of as
 * many groups, which looks at nothing.
 */
export async function batcherBench({ quick, signal }: Given): Promise<BenchTable> {
  const bytes = packTrajectory(makeRealSizeTrajectory())
  const groups = Array.from({ length: quick ? GROUPS / 4 : GROUPS }, (_, index) => makeGroup(index, bytes))
  const slowFirst = groups.map((_, place) => groups[place ^ 63] ?? groups[place]).flatMap(group => group ?? [])
  const rateOf = await measureRates(
    [
      chunkCase('completion', groups, 'completion'),
      chunkCase('planned', slowFirst, 'planned'),
      {
        name: 'buffer',
        operations: groups.length,
        async run() {
          await lastValueFrom(from(groups).pipe(bufferCount(CHUNK / GROUP_SIZE), map(toRuns)))
        },
      },
    ],
    quick ? 5 : 9,
    signal,
  )
  const buffer = rateOf('buffer').value
  const row = (name: string, of: string) => {
    const { value, spread } = rateOf(of)
    const reference = `bufferCount ${formatNumber(buffer)} groups/s`
    return { name, value, spread, unit: 'groups/s', reference, ratio: value / buffer }
  }
  return {
    title: `groups of ${GROUP_SIZE} into chunks of ${CHUNK}`,
    rows: [
      row('as they end, without reward spread dropped', 'completion'),
      row('planned order, 64 groups turned round', 'planned'),
    ],
  }
}

const toRuns = (groups: readonly Group[]) => groups.flatMap(({ runs }) => runs)

function chunkCase(name: string, groups: readonly Group[], order: 'completion' | 'planned'): Case {
  const limits = { maxTrajectories: CHUNK, maxBytes: 64 * 2 ** 20, dropWithoutSpread: true, order }
  return {
    name,
    operations: groups.length,
    async run() {
      await lastValueFrom(from(groups).pipe(chunkGroups(limits)))
    },
  }
}

function makeGroup(index: number, trajectory: Uint8Array): Group {
  const runs = Array.from({ length: GROUP_SIZE }, (_, member) =>
    toRun(makeBenchHeader(index, member, trajectory.byteLength), trajectory),
  )
  const { jobId, groupId, step, task } = makeBenchHeader(index, 0, 0)
  const bytes = GROUP_SIZE * trajectory.byteLength
  return { jobId, groupId, step, index, task, end: { type: 'complete' }, runs, bytes }
}

import { from, lastValueFrom } from 'rxjs'
import type { Group } from '../src/rollout/group.ts'
import { packTrajectory, toRun } from '../src/rollout/pack.ts'
import { chunkGroups } from '../src/stream/index.ts'
import type { BenchTable } from './table.ts'
import { makeBenchHeader, makeRealSizeTrajectory } from './trajectories.ts'

const GROUPS = 20_000
const GROUP_SIZE = 8
const CHUNK = 128

/** What the batcher itself costs: groups of 8 into chunks of 128 runs, as they end and in planned order from behind. */
export async function batcherBench(): Promise<BenchTable> {
  const bytes = packTrajectory(makeRealSizeTrajectory())
  const groups = Array.from({ length: GROUPS }, (_, index) => makeGroup(index, bytes))
  const slowFirst = groups.map((_, place) => groups[place ^ 63] ?? groups[place]).flatMap(group => group ?? [])
  const completion = await groupsPerSecond(groups, 'completion')
  const planned = await groupsPerSecond(slowFirst, 'planned')
  return {
    title: `Batcher: groups of ${GROUP_SIZE} into chunks of ${CHUNK}`,
    rows: [
      { name: 'as they end, without reward spread dropped', value: completion, unit: 'groups/s' },
      { name: 'planned order, 64 groups turned round', value: planned, unit: 'groups/s' },
    ],
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

async function groupsPerSecond(groups: readonly Group[], order: 'completion' | 'planned'): Promise<number> {
  const begun = performance.now()
  await lastValueFrom(
    from(groups).pipe(chunkGroups({ maxTrajectories: CHUNK, maxBytes: 64 * 2 ** 20, dropWithoutSpread: true, order })),
  )
  return (groups.length / (performance.now() - begun)) * 1_000
}

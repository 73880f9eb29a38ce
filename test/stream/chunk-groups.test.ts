import { from, lastValueFrom, Subject, toArray } from 'rxjs'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { Group } from '../../src/rollout/group.ts'
import { type Chunk, type ChunkOptions, checkChunkLimits, chunkGroups } from '../../src/stream/index.ts'
import { suite } from '../support/suite.ts'
import { makeGroup } from './fixtures.ts'

const test = suite('chunk groups')

const chunksOf = (groups: readonly Group[], options: ChunkOptions): Promise<Chunk[]> =>
  lastValueFrom(from(groups).pipe(chunkGroups(options), toArray()))

const indices = (chunks: readonly Chunk[]) => chunks.map(chunk => chunk.groups.map(group => group.index))

async function tagOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error && 'tag' in error) return String(error.tag)
    throw error
  }
  throw new Error('should have failed')
}

const groups = (...places: number[]) => places.map(index => makeGroup({ index }))

test('a chunk is the array of its runs, members side by side, group after group', async () => {
  const [chunk] = await chunksOf(groups(4, 2), { maxTrajectories: 4 })
  assert.ok(chunk)
  assert.ok(Array.isArray(chunk))
  assert.equal(
    chunk.map(run => run.runId),
    ['run-0-4-0', 'run-0-4-1', 'run-0-2-0', 'run-0-2-1'],
  )
  assert.equal(chunk.runs, [...chunk])
  assert.equal([chunk.index, chunk.bytes, chunk.groupSizes], [0, 40, [2, 2]])
})

test('a full chunk is emitted while other groups still run, the remainder on completion', () => {
  const source = new Subject<Group>()
  const sizes: number[] = []
  source.pipe(chunkGroups({ maxTrajectories: 4 })).subscribe(chunk => sizes.push(chunk.length))
  for (const group of groups(0, 1, 2)) source.next(group)
  assert.equal(sizes, [4])
  source.complete()
  assert.equal(sizes, [4, 2])
})

test('bytes close a chunk before trajectories do', async () => {
  assert.equal(indices(await chunksOf(groups(0, 1, 2), { maxTrajectories: 100, maxBytes: 45 })), [[0, 1], [2]])
})

test('a group that is over a limit alone fails the stream, naming group, size and limit', async () => {
  for (const options of [{ maxTrajectories: 1 }, { maxTrajectories: 8, maxBytes: 19 }])
    try {
      await chunksOf(groups(5), options)
      assert.unreachable()
    } catch (error) {
      assert.ok(hasTag(error, 'group-exceeds-chunk'))
      assert.match(error.message, 'group-0-5')
      const size = 'maxBytes' in options ? 20 : 2
      assert.is(error.data.details?.size, size)
      assert.is(error.data.details?.limit, 'maxBytes' in options ? 19 : 1)
    }
})

test('a group that comes twice fails the stream', async () => {
  assert.is(await tagOf(chunksOf(groups(1, 1), { maxTrajectories: 8 })), 'duplicate-group')
})

test('dropped groups are left out and reported with their reason', async () => {
  const seen: string[] = []
  const given = [
    makeGroup({ index: 0, end: { type: 'dropped', reason: 'member-lost' } }),
    makeGroup({ index: 1, rewards: [] }),
    makeGroup({ index: 2, rewards: [0.1 + 0.2, 0.1 + 0.2] }),
    makeGroup({ index: 3, rewards: [1, null, 1] }),
    makeGroup({ index: 4, rewards: [null, 0] }),
    makeGroup({ index: 5, rewards: [0.3, 0.1 + 0.2, null] }),
  ]
  const options: ChunkOptions = {
    maxTrajectories: 8,
    dropWithoutSpread: true,
    onDropped: (group, reason) => seen.push(`${group.index} ${reason}`),
  }
  assert.equal(indices(await chunksOf(given, options)), [[5]])
  assert.equal(seen, ['0 member-lost', '1 no-runs', '2 no-reward-spread', '3 no-reward-spread', '4 no-reward-spread'])
})

test('stale groups are dropped on arrival, and when they grew stale in the open chunk', () => {
  const source = new Subject<Group>()
  const dropped: string[] = []
  const emitted: number[][] = []
  let current = 1
  const staleness = { maxSteps: 1, currentStep: () => current }
  const onDropped = (group: Group, reason: string) => dropped.push(`${group.step}:${reason}`)
  source
    .pipe(chunkGroups({ maxTrajectories: 100, staleness, onDropped }))
    .subscribe(chunk => emitted.push(chunk.groups.map(group => group.step)))
  source.next(makeGroup({ step: 0, index: 0 }))
  current = 2
  source.next(makeGroup({ step: 0, index: 1 }))
  source.next(makeGroup({ step: 2, index: 0 }))
  source.complete()
  assert.equal(emitted, [[2]])
  assert.equal(dropped, ['0:stale', '0:stale'])
})

test('planned order waits for what is missing; a gap is closed on completion', async () => {
  const options: ChunkOptions = { maxTrajectories: 4, order: 'planned' }
  assert.equal(indices(await chunksOf(groups(3, 1, 0, 2), options)), [
    [0, 1],
    [2, 3],
  ])
  assert.equal(indices(await chunksOf(groups(6, 4, 0), options)), [[0, 4], [6]])
})

test('planned ids give the order across steps and gaps', async () => {
  const given = [makeGroup({ step: 1, index: 0 }), makeGroup({ step: 0, index: 7 }), makeGroup({ step: 0, index: 2 })]
  const planned = [given[2], given[1], given[0]].flatMap(group => group?.groupId ?? [])
  const chunks = await chunksOf(given, { maxTrajectories: 2, order: 'planned', planned })
  assert.equal(
    chunks.map(chunk => chunk.groups[0]?.groupId),
    planned,
  )
  const other = chunksOf(groups(3), { maxTrajectories: 2, order: 'planned', planned })
  assert.is(await tagOf(other), 'unplanned-group')
})

test('planned order fails rather than hold too much or give other chunks', async () => {
  const options: ChunkOptions = { maxTrajectories: 4, order: 'planned', maxHeldBytes: 50 }
  assert.is(await tagOf(chunksOf(groups(3, 1, 2, 0), options)), 'planned-order-overflow')
})

test('limits that cannot work are refused before anything starts, all at once', () => {
  const problemsOf = (options: ChunkOptions, groupSize?: number) => {
    try {
      checkChunkLimits(options, groupSize)
    } catch (error) {
      if (hasTag(error, 'bad-chunk-limit')) return error.message
    }
    return undefined
  }
  assert.match(problemsOf({ maxTrajectories: 4 }, 8) ?? '', 'cannot hold one group of 8')
  assert.is(problemsOf({ maxTrajectories: 8 }, 8), undefined)
  const both = problemsOf({ maxTrajectories: 0, maxBytes: 0.5 }) ?? ''
  assert.match(both, 'maxTrajectories')
  assert.match(both, 'maxBytes')
  assert.throws(() => chunkGroups({ maxTrajectories: 0 }))
})

test('each subscription starts anew', async () => {
  const chunks = from(groups(0, 1)).pipe(chunkGroups({ maxTrajectories: 2 }), toArray())
  assert.is((await lastValueFrom(chunks)).length, 2)
  assert.is((await lastValueFrom(chunks))[0]?.index, 0)
})

test.run()

import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { Group } from '../../src/rollout/group.ts'
import type { ChunkOptions } from '../../src/stream/chunk-options.ts'
import { hasRewardSpread, makeChunker } from '../../src/stream/chunker.ts'
import { suite } from '../support/suite.ts'
import { makeGroup } from './fixtures.ts'

const test = suite('chunk groups, properties')

const reward = fc.constantFrom(null, 0, 0.5, 1)
const shape = fc.record({
  rewards: fc.array(reward, { maxLength: 6 }),
  bytesEach: fc.integer({ min: 0, max: 20 }),
  end: fc.constantFrom({ type: 'complete' as const }, { type: 'dropped' as const, reason: 'member-lost' as const }),
})
/** Groups in the order they were planned, and in one they might end in. */
const endings = fc
  .array(shape, { maxLength: 24 })
  .chain(shapes =>
    fc.record({
      planned: fc.constant(shapes.map((given, index) => makeGroup({ ...given, index }))),
      keys: fc.array(fc.nat(), { minLength: shapes.length, maxLength: shapes.length }),
    }),
  )
  .map(({ planned, keys }) => ({
    planned,
    ended: [...planned].sort((a, b) => (keys[a.index] ?? 0) - (keys[b.index] ?? 0)),
  }))
const limits = fc.record({
  maxTrajectories: fc.integer({ min: 6, max: 20 }),
  maxBytes: fc.integer({ min: 120, max: 300 }),
  dropWithoutSpread: fc.boolean(),
})

function chunk(groups: readonly Group[], options: ChunkOptions) {
  const dropped: Group[] = []
  const chunker = makeChunker({ ...options, onDropped: group => dropped.push(group) })
  return { chunks: [...groups.flatMap(group => chunker.push(group)), ...chunker.finish()], dropped }
}

test('no group is split, lost or counted twice, whatever order they end in', () => {
  fc.assert(
    fc.property(
      endings,
      limits,
      fc.constantFrom('completion' as const, 'planned' as const),
      (given, options, order) => {
        const { chunks, dropped } = chunk(given.ended, { ...options, order })
        const shipped = chunks.flatMap(({ groups }) => groups)
        const ids = [...shipped, ...dropped].map(group => group.groupId).sort()
        assert.equal(ids, given.planned.map(group => group.groupId).sort())
        for (const { groups, runs } of chunks)
          assert.equal(
            [...runs],
            groups.flatMap(group => group.runs),
          )
        for (const group of shipped) {
          assert.is(group.end.type, 'complete')
          assert.ok(group.runs.length > 0)
          if (options.dropWithoutSpread) assert.ok(hasRewardSpread(group))
        }
      },
    ),
  )
})

test('no chunk is over a limit, none is empty, and none was closed while the next group fitted', () => {
  fc.assert(
    fc.property(endings, limits, (given, options) => {
      const { chunks } = chunk(given.ended, options)
      for (const [place, { runs, bytes, index, groups }] of chunks.entries()) {
        assert.is(index, place)
        assert.ok(runs.length > 0 && runs.length <= options.maxTrajectories && bytes <= options.maxBytes)
        assert.is(
          bytes,
          groups.reduce((sum, group) => sum + group.bytes, 0),
        )
        const next = chunks[place + 1]?.groups[0]
        if (next === undefined || runs.length === options.maxTrajectories) continue
        const isFull = runs.length + next.runs.length > options.maxTrajectories || bytes + next.bytes > options.maxBytes
        assert.ok(isFull)
      }
    }),
  )
})

test('in planned order equal runs give equal chunks, whatever was slow', () => {
  const ids = (groups: readonly Group[], options: ChunkOptions) =>
    chunk(groups, { ...options, order: 'planned' }).chunks.map(({ groups }) => groups.map(group => group.groupId))
  fc.assert(
    fc.property(endings, limits, ({ planned, ended }, options) => {
      assert.equal(ids(ended, options), ids(planned, options))
      assert.equal(ids(ended, { ...options, planned: planned.map(group => group.groupId) }), ids(planned, options))
    }),
  )
})

test.run()

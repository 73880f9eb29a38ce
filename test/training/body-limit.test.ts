import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { refused } from '../../src/models/errors.ts'
import type { EncodedGroup } from '../../src/training/body/encode-groups.ts'
import { BodyLimit } from '../../src/training/body-limit.ts'
import { combineResults } from '../../src/training/combine-results.ts'
import { deliverParts } from '../../src/training/deliver-parts.ts'
import { suite } from '../support/suite.ts'

const test = suite('body limit')
const envelope = { head: '[', tail: ']' }

function makeGroups(sizes: readonly number[]): EncodedGroup[] {
  return sizes.map((size, index) => ({
    groupId: `group-${index}`,
    runIds: [`run-${index}`],
    fragments: [new Uint8Array(size)],
    bytes: size,
    datums: 1,
  }))
}

/** A service that takes bodies of `most` bytes. */
async function deliver(groups: readonly EncodedGroup[], limit: BodyLimit, most: number) {
  const passed: string[][] = []
  let refusals = 0
  await deliverParts(groups, envelope, limit, {
    send: async (part, { bytes }) => {
      if (bytes > most) {
        refusals += 1
        throw refused({ method: 'POST', url: 'http://fake/' }, { status: 413, words: '' }, bytes)
      }
      passed.push(part.map(({ groupId }) => groupId))
    },
    onSplit: () => {},
  })
  return { passed, refusals }
}

test('whatever the sizes and the limit, groups arrive whole, once and in order; the next batch is refused no more', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 2, max: 50 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 51, max: 200 }),
      async (sizes, most) => {
        const groups = makeGroups(sizes)
        const limit = new BodyLimit(undefined)
        const first = await deliver(groups, limit, most)
        assert.equal(
          first.passed.flat(),
          groups.map(({ groupId }) => groupId),
        )
        const second = await deliver(groups, limit, most)
        assert.is(second.refusals, 0)
        assert.ok(second.passed.length <= first.passed.length)
        assert.equal(second.passed.flat(), first.passed.flat())
        const given = await deliver(groups, new BodyLimit(most), most)
        assert.is(given.refusals, 0)
      },
    ),
    { numRuns: 300 },
  )
})

test('a group above what has passed and below what was refused is tried', async () => {
  const limit = new BodyLimit(undefined)
  limit.refused(100)
  limit.passed(20)
  const { passed } = await deliver(makeGroups([10, 60, 5, 5]), limit, 90)
  assert.equal(passed, [['group-0'], ['group-1'], ['group-2', 'group-3']])
  assert.throws(
    () => limit.cut(makeGroups([100]), 2),
    (error: unknown) => hasTag(error, 'group-too-large'),
  )
})

test('a service that takes less than before is believed', async () => {
  const limit = new BodyLimit(undefined)
  await deliver(makeGroups([40, 40]), limit, 1_000)
  const { passed } = await deliver(makeGroups([40, 40]), limit, 60)
  assert.is(passed.length, 2)
})

test('results of parts add up: sums by sum, extremes by extreme, means by weight', () => {
  const whole = combineResults([
    { metrics: { 'loss:sum': 3, 'kl:mean': 1, 'ratio:max': 2, 'ratio:min': 0.5, odd: 4 }, numDatums: 10 },
    { metrics: { 'loss:sum': -1, 'kl:mean': 5, 'ratio:max': 1, 'ratio:min': 0.9 }, numDatums: 30 },
  ])
  assert.equal(whole, {
    metrics: { 'loss:sum': 2, 'kl:mean': 4, 'ratio:max': 2, 'ratio:min': 0.5, odd: 4 },
    numDatums: 40,
  })
})

test.run()

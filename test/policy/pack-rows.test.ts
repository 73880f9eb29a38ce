import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { mergeRows } from '../../src/policy/merge-rows.ts'
import { packRows } from '../../src/policy/pack-rows.ts'
import { suite } from '../support/suite.ts'
import { drawData, SMALL } from './scene.ts'

const test = suite('pack rows')

const LENGTH = 24

test('every row has one place, and no two overlap', () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), fc.nat(), (count, seed) => {
      const rows = mergeRows(drawData(count, SMALL, seed), { name: 'cross_entropy' }, SMALL)
      const places: number[] = []
      for (const bin of packRows(rows, LENGTH)) {
        let free = 0
        for (const { prefix, start, segments } of bin) {
          assert.is(start, free)
          free += prefix.length
          for (const { row, index, start: first } of segments) {
            assert.is(first, free)
            assert.is(row, rows[index])
            assert.equal(prefix, row.tokens.slice(0, row.promptLength - 1))
            free += row.sampled.length
            places.push(index)
          }
        }
        assert.ok(free <= LENGTH)
      }
      assert.equal(
        places.sort((a, b) => a - b),
        rows.map((_, i) => i),
      )
    }),
  )
})

test('outputs of one prompt stand behind it together', () => {
  const prompt = Uint32Array.of(1, 2, 3, 4)
  const data = [5, 6, 7].map(token => ({
    prompt,
    output: Uint32Array.of(token, token),
    logprobs: new Float32Array(2),
    advantage: 1,
  }))
  const bins = packRows(mergeRows(data, { name: 'cross_entropy' }, SMALL), LENGTH)
  assert.equal(
    bins.map(bin => bin.map(({ segments }) => segments.map(({ start }) => start))),
    [[[3, 5, 7]]],
  )
})

test.run()

import * as assert from 'uvu/assert'
import { parsePeersOptions } from '../../../bench/peers/options.ts'
import { suite } from '../../support/suite.ts'

const test = suite('options of peers')

test('without options everything is compared at the published widths, twice, and once where that takes minutes', () => {
  const { parts, widths, repetitions, wideRepetitions } = parsePeersOptions({ quick: false })
  assert.is(wideRepetitions, 1)
  assert.is(parsePeersOptions({ quick: false, repetitions: '3' }).wideRepetitions, 3)
  assert.equal(parts, ['kernel', 'plain', 'rollouts', 'sandboxes'])
  assert.equal([widths, repetitions], [[8, 32, 128, 256], 2])
})

test('--parts names the parts, in whatever order, and refuses what is none', () => {
  assert.equal(parsePeersOptions({ quick: true, parts: 'sandboxes, kernel' }).parts, ['kernel', 'sandboxes'])
  assert.throws(() => parsePeersOptions({ quick: true, parts: 'kernel,cold' }), /--parts cold: .*sandboxes/)
})

test.run()

import * as assert from 'uvu/assert'
import { parseLadderOptions } from '../../../bench/ladder/options.ts'
import { suite } from '../../support/suite.ts'

const test = suite('ladder options')

test('without options the levels are done three times, by every strategy', () => {
  const { levels, repetitions, strategies, seed, transport } = parseLadderOptions({ quick: false })
  assert.equal(levels, [1, 8, 32, 128, 256])
  assert.equal(strategies, ['published', 'cold', 'provider-pool', 'prewarm', 'fork'])
  assert.equal([repetitions, seed, transport], [3, 1, 'auto'])
})

test('--quick is narrow and once, and what is said beside it holds', () => {
  const quick = parseLadderOptions({ quick: true, seed: '7', strategies: 'fork' })
  assert.equal(quick.levels, [8, 32])
  assert.equal([quick.repetitions, quick.seed], [1, 7])
  assert.equal(quick.strategies, ['fork'])
})

test('lists may have blanks and repeat themselves', () => {
  assert.equal(parseLadderOptions({ quick: false, levels: '8, 32,8' }).levels, [8, 32])
})

for (const [option, text, says] of [
  ['levels', '8,zero', /--levels zero: .* whole number from 1 to/],
  ['levels', '', /--levels : /],
  ['levels', '100000', /--levels 100000/],
  ['repetitions', '0', /--repetitions 0/],
  ['strategies', 'cold,tepid', /--strategies tepid: .*provider-pool/],
  ['transport', 'pigeon', /--transport pigeon: .*websocket/],
  ['seed', '-1', /--seed -1/],
] as const)
  test(`--${option} ${text} is refused with what it may be`, () => {
    assert.throws(() => parseLadderOptions({ quick: false, [option]: text }), says)
  })

test.run()

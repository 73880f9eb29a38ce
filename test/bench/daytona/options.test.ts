import * as assert from 'uvu/assert'
import { parseLadderOptions } from '../../../bench/daytona/options.ts'
import { suite } from '../../support/suite.ts'

const test = suite('ladder options')

test('without options the published widths are done three times, by every mode', () => {
  const { widths, repetitions, modes, seed, transport } = parseLadderOptions({ quick: false })
  assert.equal(widths, [8, 32, 128, 256])
  assert.equal(modes, ['published', 'cold', 'provider-pool', 'prewarm', 'fork'])
  assert.equal([repetitions, seed, transport], [3, 1, 'auto'])
})

test('--quick is narrow and once, and what is said beside it holds', () => {
  const quick = parseLadderOptions({ quick: true, seed: '7', modes: 'fork' })
  assert.equal(quick.widths, [8, 32])
  assert.equal([quick.repetitions, quick.seed], [1, 7])
  assert.equal(quick.modes, ['fork'])
})

test('lists may have blanks and repeat themselves', () => {
  assert.equal(parseLadderOptions({ quick: false, widths: '8, 32,8' }).widths, [8, 32])
})

for (const [option, text, says] of [
  ['widths', '8,zero', /--widths zero: .* whole number from 1 to/],
  ['widths', '', /--widths : /],
  ['widths', '100000', /--widths 100000/],
  ['repetitions', '0', /--repetitions 0/],
  ['modes', 'cold,tepid', /--modes tepid: .*provider-pool/],
  ['transport', 'pigeon', /--transport pigeon: .*websocket/],
  ['seed', '-1', /--seed -1/],
] as const)
  test(`--${option} ${text} is refused with what it may be`, () => {
    assert.throws(() => parseLadderOptions({ quick: false, [option]: text }), says)
  })

test.run()

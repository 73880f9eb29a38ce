/** What the page has of its own because a browser cannot import the engine's: the same as those. */
import * as assert from 'uvu/assert'
import { wilson } from '../../../src/dashboard/page/model/interval.ts'
import { PHASE_LOOKS, PHASE_ORDER } from '../../../src/dashboard/page/palette.ts'
import { readPlace, TABS, toHash } from '../../../src/dashboard/page/route.ts'
import { TOKENS } from '../../../src/dashboard/page/style/tokens.ts'
import * as words from '../../../src/dashboard/page/words.ts'
import * as units from '../../../src/report/units.ts'
import { PHASES } from '../../../src/rollout/run.ts'
import { wilsonInterval } from '../../../src/training/receipt/interval.ts'
import { suite } from '../../support/suite.ts'

const test = suite('dashboard/page: words')

test('figures read as in the reports', () => {
  for (const ms of [null, 0, 0.5, 9.99, 10, 99.94, 250, 999, 1_000, 59_999, 60_000, 125_400, 3_599_000]) {
    assert.is(words.duration(ms), units.duration(ms))
    assert.is(words.mebibytes(ms === null ? null : ms * 1_000), units.mebibytes(ms === null ? null : ms * 1_000))
    assert.is(words.percent(ms), units.percent(ms))
    assert.is(words.decimal(ms), units.decimal(ms))
  }
  for (const { decimal } of [words, units])
    assert.equal(
      [-0, -0.04, -0.05, -10, 0.04].map(value => decimal(value, 1)),
      ['0.0', '0.0', '-0.1', '-10.0', '0.0'],
    )
  assert.is(words.duration(2 * 3_600_000 + 4 * 60_000), '2 h 04 min')
  assert.equal([0, 1, 0.5, 0.25].map(words.reward), ['0', '1', '0.5', '0.25'])
  assert.equal([words.plural(1, 'group'), words.plural(1_234, 'group')], ['1 group', '1,234 groups'])
})

test('intervals are those of the receipts', () => {
  for (const [passed, runs] of [
    [0, 0],
    [0, 8],
    [8, 8],
    [46, 128],
  ] as const)
    assert.equal(wilson(passed, runs), wilsonInterval(passed, runs))
})

test('every phase has its look, each another, in the order of a rollout', () => {
  assert.equal(PHASE_ORDER, PHASES)
  assert.is(new Set(Object.values(PHASE_LOOKS).map(({ colour }) => colour)).size, PHASES.length)
})

test('every tab has an address, and what is none leads to the first', () => {
  for (const { id } of TABS) assert.equal(readPlace(toHash({ tab: id })), { tab: id })
  const place = { tab: 'run', id: 'a/b %?&#', job: 'job 1&2' } as const
  assert.equal(readPlace(toHash(place)), place)
  for (const hash of ['', '#', '#/', '#/nothing', '#main']) assert.equal(readPlace(hash), { tab: 'now' })
  assert.equal(readPlace('#/run/%E0%A4%A'), { tab: 'run', id: '%E0%A4%A' })
})

test('texts stand out from their ground, light and dark', () => {
  for (const ground of ['paper', 'card', 'sunken'] as const)
    for (const text of ['ink', 'quiet', 'accent', 'alarm', 'good'] as const)
      for (const side of [0, 1] as const)
        assert.ok(contrast(TOKENS[text][side], TOKENS[ground][side]) >= 4.5, `${text} on ${ground}, ${side}`)
  for (const shade of ['likely-1', 'likely-2', 'likely-3', 'likely-4'] as const)
    for (const side of [0, 1] as const)
      assert.ok(contrast(TOKENS.ink[side], TOKENS[shade][side]) >= 4.5, `ink on ${shade}, ${side}`)
})

/** WCAG 2.2's contrast ratio. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test.run()

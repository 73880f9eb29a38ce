import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { formatReceipt, readReceipt } from '../../src/receipts/index.ts'
import { LEVEL_FIGURES, LEVEL_PHASES, MOMENT_FIGURES, type PoolMeasurement } from '../../src/warmpool/columns.ts'
import { fromPoolReceipt, toPoolReceipt } from '../../src/warmpool/receipt.ts'
import { suite } from '../support/suite.ts'

const test = suite('the receipt of a pool')

const figure = fc.oneof(
  fc.nat(),
  fc.nat({ max: 1_000_000 }).map(thousandths => thousandths / 1_000),
)
const some = (columns: readonly string[]) =>
  fc.record(Object.fromEntries(columns.map(column => [column, figure])), { requiredKeys: [], noNullPrototype: true })
const level = fc
  .tuple(fc.constantFrom(...LEVEL_PHASES), fc.constantFrom('', 'pool-full:2 x<y:1'), some(LEVEL_FIGURES))
  .map(([phase, errors, figures]) => ({ phase, errors, ...figures }))
const moment = fc
  .tuple(fc.constantFrom('fill', 'batch 2'), some([...MOMENT_FIGURES, 'parents']))
  .map(([during, figures]) => ({ during, ...figures }))
const measurement: fc.Arbitrary<PoolMeasurement> = fc
  .tuple(fc.array(level, { minLength: 1, maxLength: 4 }), fc.array(moment, { maxLength: 4 }))
  .map(([levels, moments]) => ({ levels, moments }))

test('what is written is what is read, levels and time line', () => {
  fc.assert(
    fc.property(measurement, fc.constantFrom('warmpool' as const, 'fork-bench' as const), (measured, kind) => {
      const text = formatReceipt(toPoolReceipt(kind, measured, { seed: '1' }, 'true'))
      const { levels, moments } = fromPoolReceipt(readReceipt(text, 'a.csv'), kind, 'a.csv')
      assert.equal({ levels, moments }, measured)
    }),
    { numRuns: 50 },
  )
})

const read = (text: string, kind: 'warmpool' | 'fork-bench' = 'warmpool') =>
  fromPoolReceipt(readReceipt(text, 'a.csv'), kind, 'a.csv')

for (const [what, text, says] of [
  ['of another kind', '# kind: fork-bench\nphase,n\ncold,4\n', /kind fork-bench, and one of kind warmpool/],
  ['with a foreign phase', '# kind: warmpool\nphase,n\ntepid,4\n', /row 3, column phase is "tepid".*cold, warm/],
  ['with a word for a figure', '# kind: warmpool\nphase,n\ncold,4\ncold,four\n', /row 4, column n is "four"/],
  ['with a figure below nothing', '# kind: warmpool\nphase,n\ncold,-4\n', /row 3, column n is "-4"/],
  ['without a level', '# kind: warmpool\nphase,n\n', /has no level/],
] as const)
  test(`a receipt ${what} is refused by what is wrong with it`, () => assert.throws(() => read(text), says))

test.run()

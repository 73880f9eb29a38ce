import * as assert from 'uvu/assert'
import { completeText, toReceipt } from '../../bench/receipt.ts'
import type { TablePart } from '../../bench/table.ts'
import { formatReceipt, readReceipt } from '../../src/receipts/index.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench receipt')

const words = {
  command: 'npm run bench',
  machine: { made: 'now', node: 'v20' },
  planned: ['pool'],
  quick: true,
  tookMs: 1_500,
}
const part = (given: Partial<TablePart>): TablePart => ({
  bench: 'pool',
  title: 'the pool',
  tookMs: 1,
  rows: [],
  ...given,
})

test('figures are read back as they were measured, with all that stands beside them', () => {
  const value = 1 / 3
  const row = {
    name: 'lease, "hit"',
    value,
    unit: 'µs',
    spread: 0.25,
    reference: 'other 1, 2',
    ratio: 2,
    aim: '<= 1 x',
    met: false,
  }
  const { about, rows } = readReceipt(formatReceipt(toReceipt([part({ rows: [row] })], words)), 'receipt')
  assert.is(Number(rows[0]?.value), value)
  assert.equal(rows[0], {
    bench: 'pool',
    name: row.name,
    value: String(value),
    unit: 'µs',
    spread: '0.25',
    against: row.reference,
    ratio: '2',
    aim: row.aim,
    met: 'false',
  })
  assert.equal([about.complete, about.took, about.node, about.made], ['true', '1.5 s', 'v20', 'now'])
})

test('a row that belongs to one above it has its name too', () => {
  const rows = ['32 wide', '  CPU', '    of it ours', '  memory', '64 wide', '  CPU'].map(name => ({
    name,
    value: 1,
    unit: 'ms',
  }))
  assert.equal(
    toReceipt([part({ rows })], words).rows.map(({ name }) => name),
    ['32 wide', '32 wide: CPU', '32 wide: CPU: of it ours', '32 wide: memory', '64 wide', '64 wide: CPU'],
  )
})

test('what failed and what never began is told, and has a row or none', () => {
  const failed = part({ bench: 'bad', incomplete: 'failed: no\ndisk' })
  assert.is(completeText([failed], ['bad', 'never']), 'false: bad failed: no disk; not begun: never')
  const { rows, about } = toReceipt([failed], { ...words, planned: ['bad', 'never'] })
  assert.equal(rows, [{ bench: 'bad', name: 'failed: no\ndisk' }])
  assert.match(about.complete ?? '', /^false: bad/)
})

test('a figure that could not be taken is an empty cell', () => {
  const { rows } = toReceipt([part({ rows: [{ name: 'skipped', value: Number.NaN, unit: '' }] })], words)
  assert.is(rows[0]?.value, '')
})

test.run()

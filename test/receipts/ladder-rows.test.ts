import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import {
  formatReceipt,
  LADDER_COLUMNS,
  PUBLISHED_LADDER_COLUMNS,
  PUBLISHED_LADDER_RECEIPT,
  PUBLISHED_LADDER_TEXT,
  readReceipt,
  toErrorCounts,
  toLadderRows,
  toStrategyName,
} from '../../src/receipts/index.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('receipts: ladders')

const CELLS: Readonly<Record<string, string>> = Object.fromEntries(
  LADDER_COLUMNS.map((column, index) => [column, String(index + 1)]),
)
const ROW: Readonly<Record<string, string>> = {
  ...CELLS,
  mode: 'fork',
  work: 'rollout',
  hit_rate: '0.5',
  errors: 'daytona-429:3 create-failed:1',
}
const read = (changes: Readonly<Record<string, string>>) =>
  toLadderRows(
    readReceipt(
      formatReceipt({
        kind: 'ladder',
        about: { a: 'b' },
        columns: LADDER_COLUMNS,
        rows: [ROW, { ...ROW, ...changes }],
      }),
      'a.csv',
    ),
    'a.csv',
  )

test('every column that is written is read', () => {
  const [, row] = read({})
  assert.equal(new Set(Object.keys(row ?? {})), new Set(LADDER_COLUMNS))
  for (const column of LADDER_COLUMNS) assert.is(String(row?.[column]), ROW[column], column)
  assert.equal(
    [...toErrorCounts(row?.errors ?? '')],
    [
      ['daytona-429', 3],
      ['create-failed', 1],
    ],
  )
})

test('the published columns come first, in their order', () => {
  assert.equal(LADDER_COLUMNS.slice(0, 11), [...PUBLISHED_LADDER_COLUMNS])
  assert.is(LADDER_COLUMNS.length, new Set(LADDER_COLUMNS).size)
})

test('all of ours may be missing or empty', () => {
  const [row] = toLadderRows(readReceipt('n,mode,ready_p50_s,ready_p95_s,other\n8,warm,,,x\n', 'a.csv'), 'a.csv')
  assert.is(toStrategyName(row?.mode ?? ''), 'provider-pool')
  assert.equal([row?.n, row?.ok, row?.failed, row?.work, row?.errors], [8, 8, 0, 'infra', ''])
  assert.equal([row?.ready_p50_s, row?.leaked, row?.hit_rate], [undefined, undefined, undefined])
})

for (const [column, cell, says] of [
  ['n', '', /row 5, column n is "", and should be a whole number from 1/],
  ['n', '0', /row 5, column n is "0"/],
  ['n', '-8', /row 5, column n is "-8"/],
  ['mode', '', /row 5, column mode is "", and should be the name of a strategy/],
  ['work', 'play', /row 5, column work is "play", and should be one of infra, rollout/],
  ['ready_p50_s', 'slow', /row 5, column ready_p50_s is "slow", and should be a number from 0/],
  ['ready_p50_s', 'Infinity', /column ready_p50_s is "Infinity"/],
  ['lease_p99_ms', '0x10', /column lease_p99_ms is "0x10"/],
  ['hits', '1.5', /row 5, column hits is "1.5", and should be a whole number/],
  ['hit_rate', '1.01', /row 5, column hit_rate is "1.01", and should be a share from 0 to 1/],
  ['leaked', '-1', /row 5, column leaked is "-1"/],
] as const)
  test(`${column} is not to be ${JSON.stringify(cell)}: refused by file, row and column`, () => {
    assert.throws(
      () => read({ [column]: cell }),
      (error: unknown) =>
        error instanceof TroupeError &&
        error.tag === 'receipt-cell' &&
        error.message.startsWith('a.csv: ') &&
        says.test(error.message),
    )
  })

test('a receipt that was not read from a file is refused by the row that it would be written on', () => {
  const receipt = {
    kind: 'ladder',
    about: { a: 'b' },
    columns: LADDER_COLUMNS,
    rows: [ROW, { ...ROW, ok: '?' }],
  } as const
  assert.throws(() => toLadderRows(receipt, 'a.csv'), /row 5, column ok is "\?"/)
})

test('another kind, and a ladder without a level, are no ladder rows', () => {
  assert.throws(
    () => toLadderRows(readReceipt('# kind: bench\na\n1\n', 'a.csv'), 'a.csv'),
    /kind bench, and one of kind ladder/,
  )
  assert.throws(
    () => toLadderRows(readReceipt('n,mode,ready_p50_s,ready_p95_s\n', 'a.csv'), 'a.csv'),
    /a\.csv has no level/,
  )
})

test('the published ladder comes with the package, and is the file that it says', () => {
  const path = join(repository, 'bench', 'receipts', 'hud-ladder-published.csv')
  assert.is(readFileSync(path, 'utf8'), PUBLISHED_LADDER_TEXT)
  const rows = toLadderRows(PUBLISHED_LADDER_RECEIPT, 'published')
  assert.is(rows.length, 12)
  assert.is(
    rows.reduce((sum, { ok }) => sum + ok, 0),
    1_272,
  )
  assert.equal(PUBLISHED_LADDER_RECEIPT.columns, [...PUBLISHED_LADDER_COLUMNS])
  assert.is(rows.at(-1)?.ready_p50_s, 9.9)
})

test.run()

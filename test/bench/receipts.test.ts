/** What is kept in `bench/receipts` is what the documents say it is. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { toLadderSvg } from '../../src/ladder/page/index.ts'
import { PUBLISHED_LADDER_RECEIPT, readReceipt, toLadderRows } from '../../src/receipts/index.ts'
import { fromPoolReceipt } from '../../src/warmpool/index.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('receipts that are kept')

const directory = join(repository, 'bench', 'receipts')
const names = readdirSync(directory)
const read = (name: string) => readReceipt(readFileSync(join(directory, name), 'utf8'), name)
const text = (...path: readonly string[]) => readFileSync(join(repository, ...path), 'utf8')

test('each reads back, is complete, small, and says how to make it again', () => {
  assert.ok(names.length > 5)
  for (const name of names) {
    const receipt = read(name)
    assert.ok(receipt.rows.length > 0, name)
    assert.ok(readFileSync(join(directory, name)).byteLength < 128 * 1_024, name)
    if (name.startsWith('hud-')) continue
    assert.is(receipt.about.complete, 'true', name)
    assert.match(receipt.about.command ?? '', /^(troupe|npm run bench)/, name)
    assert.match(receipt.about.machine ?? '', /^\d+ × /, name)
    if (receipt.kind === 'ladder') toLadderRows(receipt, name)
    if (receipt.kind === 'warmpool' || receipt.kind === 'fork-bench') fromPoolReceipt(receipt, receipt.kind, name)
  }
})

test('docs/sizing.md names every one of them, and none that is not there', () => {
  const named = new Set([...text('docs', 'sizing.md').matchAll(/`([\w-]+\.csv)`/g)].map(([, name]) => name ?? ''))
  assert.equal([...named].toSorted(), names.toSorted())
})

test('the README’s picture is drawn from its receipt', () => {
  assert.is(text('docs', 'ladder.svg'), toLadderSvg([read('ladder-emulator.csv'), PUBLISHED_LADDER_RECEIPT]))
})

test('the README’s ladder has no sandbox that failed or was left', () => {
  const rows = toLadderRows(read('ladder-emulator.csv'), 'ladder-emulator.csv')
  const sum = (of: (row: (typeof rows)[number]) => number | undefined) =>
    rows.reduce((total, row) => total + (of(row) ?? 0), 0)
  assert.ok(sum(({ ok }) => ok) >= 1_272)
  assert.equal([sum(({ failed }) => failed), sum(({ leaked }) => leaked)], [0, 0])
})

test.run()

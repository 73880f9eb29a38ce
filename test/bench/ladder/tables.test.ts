import * as assert from 'uvu/assert'
import type { MeasuredLevel } from '../../../bench/ladder/added.ts'
import { toBenchTable } from '../../../bench/ladder/tables.ts'
import type { Cell } from '../../../src/ladder/level.ts'
import { makeLevel as makeBareLevel, makeSample } from '../../ladder/scene.ts'
import { suite } from '../../support/suite.ts'

const test = suite('ladder tables')

const makeLevel = (cell: Partial<Cell>, { added = [], ...given }: Partial<MeasuredLevel> = {}): MeasuredLevel => ({
  ...makeBareLevel(cell, given),
  added,
})

const published = (usableMs: number, repetition = 1) =>
  makeLevel(
    { strategy: 'published', width: 8 },
    { repetition, samples: [makeSample(usableMs, { stages: { hello: usableMs } })] },
  )

function rowOf(levels: Parameters<typeof toBenchTable>[0], name: RegExp) {
  const row = toBenchTable(levels, 'ladder').rows.find(each => name.test(each.name))
  assert.ok(row, String(name))
  return row
}

test('medians over repetitions stand beside the published ones, within 15 % or not', () => {
  const good = rowOf([published(9_000, 1), published(2_800, 2), published(2_500, 3)], /as the published client, 8 wide/)
  assert.ok(Math.abs(good.value - 2.8) < 0.01)
  assert.equal([good.reference, good.met], ['published: 2.8 s', true])
  assert.is(rowOf([published(3_300)], /as the published client, 8 wide/).met, false)
  assert.is(rowOf([published(2_300)], /as the published client, 8 wide/).met, false)
})

test('ours stand beside the published client of the same run', () => {
  const ours = rowOf([published(2_800), makeLevel({}, { samples: [makeSample(1_400)] })], /cold, 8 wide/)
  assert.match(ours.reference ?? '', /published client: 2\.8/)
  assert.ok(Math.abs((ours.ratio ?? 0) - 2) < 0.01)
})

test('a prewarmed lease has its aim at 256 wide only, and misses it visibly', () => {
  const at = (width: number, leaseMs: number) =>
    makeLevel({ strategy: 'prewarm', width }, { samples: [makeSample(leaseMs + 10, { kind: 'hit' })] })
  assert.is(rowOf([at(256, 12)], /lease alone/).met, true)
  assert.is(rowOf([at(256, 25)], /lease alone/).met, false)
  assert.is(rowOf([at(32, 25)], /lease alone/).met, undefined)
})

test('added time has its aim where it is measured', () => {
  const added = [{ totalMs: 160, beforeMs: 60, betweenMs: 60, afterMs: 40 }]
  const row = rowOf([makeLevel({}, { samples: [makeSample(1_400)], added })], /added/)
  assert.is(row.met, false)
  assert.ok(Math.abs(row.value - 160) < 1)
})

test('failures and leaks are never silent', () => {
  const levels = [makeLevel({}, { failures: [{ tag: 'lost', message: 'gone' }], errors: { lost: 1 }, leaked: 2 })]
  assert.is(rowOf(levels, /^failed/).met, false)
  assert.is(rowOf(levels, /^ {2}lost/).value, 1)
  assert.equal([rowOf(levels, /^leaked/).value, rowOf(levels, /^leaked/).met], [2, false])
})

test.run()

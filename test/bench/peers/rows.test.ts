import * as assert from 'uvu/assert'
import { toKernelRows, toLoneRows } from '../../../bench/peers/kernel/run.ts'
import { toRolloutRows } from '../../../bench/peers/rollouts/rows.ts'
import type { RolloutFigures } from '../../../bench/peers/rollouts/sides.ts'
import type { SandboxLevel } from '../../../bench/peers/sandboxes/figures.ts'
import { toSandboxRows } from '../../../bench/peers/sandboxes/rows.ts'
import type { BenchRow } from '../../../bench/table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('rows of peers')

function rowOf(rows: readonly BenchRow[], name: RegExp, reference = /^/): BenchRow {
  const row = rows.find(each => name.test(each.name) && reference.test(each.reference ?? ''))
  assert.ok(row, `${name} ${reference}`)
  return row
}

const level = (
  side: SandboxLevel['side'],
  usableS: readonly number[],
  given: Partial<SandboxLevel> = {},
): SandboxLevel => ({
  side,
  width: 256,
  usableMs: usableS.map(seconds => seconds * 1_000),
  failures: [],
  leaked: 0,
  fillMs: 0,
  cpuMs: 10,
  loopP99Ms: 1,
  peakBytes: 2 ** 20,
  ...given,
})

test('cold and warm at 256 have their aims, and miss them visibly', () => {
  const rows = toSandboxRows([
    level('hud cold', [9, 9, 9]),
    level('cold', [6, 6, 6]),
    level('hud pool lean', [5]),
    level('prewarm', [0.6]),
  ])
  assert.equal([rowOf(rows, /^cold.*p50/).met, rowOf(rows, /^warm, our pool.*p50/).met], [true, false])
  assert.match(rowOf(rows, /^cold.*p50/).reference ?? '', /HUD as it comes 9/)
})

test('another width has no aim, and a side alone has no row', () => {
  const rows = toSandboxRows([
    level('hud cold', [9], { width: 8 }),
    level('cold', [6], { width: 8 }),
    level('prewarm', [1]),
  ])
  assert.is(rowOf(rows, /^cold/).met, undefined)
  assert.not(rows.some(({ name }) => name.startsWith('warm')))
})

test('the medians are taken over the levels of a side; failures and what was leaked count for all', () => {
  const levels = [1, 9, 2].map(seconds => level('cold', [seconds], { failures: ['no'], leaked: 1 }))
  const rows = toSandboxRows([...levels, level('hud cold', [4])])
  assert.ok(Math.abs(rowOf(rows, /^cold/).value - 2) < 0.01)
  assert.equal([rowOf(rows, /failed/).value, rowOf(rows, /failed/).met, rowOf(rows, /leaked/).value], [3, false, 3])
})

const round = (engineCpuMs: number, othersCpuMs: number): RolloutFigures => ({
  perSecond: 100,
  engineCpuMs,
  othersCpuMs,
  loopP99Ms: 1,
  peakBytes: 32 * 2 ** 20,
})

test("CPU is compared alone and with the environment's processes, and each has the aim", () => {
  const figures = new Map([
    ['theirs', [round(2, 40)]],
    ['ours, TCP each', [round(0.3, 0.2)]],
    ['ours', [round(0.1, 0.1)]],
  ])
  const rows = toRolloutRows([{ peer: 'theirs', rollouts: 64, width: 16, figures }])
  const alone = rowOf(rows, /CPU of the engine/)
  assert.equal([alone.ratio, alone.met], [0.15, false])
  const all = rowOf(rows, /CPU with environment/)
  assert.equal([all.value, all.met], [0.5, true])
  assert.match(all.reference ?? '', /theirs 42/)
  assert.is(rowOf(rows, /RSS/).value, 2)
})

test('the kernel must be ahead of every peer; a figure that was not taken has no row', () => {
  const rates = new Map([
    ['tell ours', 2_000],
    ['tell xstate', 1_000],
    ['tell nact', 4_000],
    ['ask ours', 1_000],
    ['far tell ours', Number.NaN],
    ['far tell MessagePort', 1_000],
  ])
  const rows = toKernelRows(rates)
  assert.is(rows.length, 2)
  assert.equal([rowOf(rows, /tell/, /xstate/).met, rowOf(rows, /tell/, /nact/).met], [true, false])
})

test('a lone answer should take less time than that of the peer', () => {
  const rows = toLoneRows(
    new Map([
      ['ours', 40],
      ['comlink', 80],
      ['piscina', 20],
    ]),
  )
  assert.equal([rowOf(rows, /alone/, /comlink/).met, rowOf(rows, /alone/, /piscina/).met], [true, false])
})

test.run()

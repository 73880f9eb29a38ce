import * as assert from 'uvu/assert'
import { parseLadderOptions } from '../../../bench/daytona/options.ts'
import { formatReceipt } from '../../../bench/daytona/receipt.ts'
import { suite } from '../../support/suite.ts'
import { makeLevel, makeSample } from './scene.ts'

const test = suite('ladder receipt')

const options = parseLadderOptions({ quick: false, seed: '3' })
const PUBLISHED = 'n,rep,mode,ok,failed,ready_p50_s,ready_p95_s,ready_min_s,ready_max_s,spread_s,wall_s'

function read(text: string): { about: string[]; head: string; rows: Record<string, string>[] } {
  const lines = text.trimEnd().split('\n')
  const about = lines.filter(line => line.startsWith('#'))
  const [head = '', ...rest] = lines.filter(line => !line.startsWith('#'))
  const names = head.split(',')
  return {
    about,
    head,
    rows: rest.map(line => Object.fromEntries(line.split(',').map((value, at) => [names[at], value]))),
  }
}

test('the published columns come first, in their order, and in seconds', () => {
  const level = makeLevel({ width: 2 }, { samples: [makeSample(2_000), makeSample(3_000)], cpuMs: 10 })
  const { head, rows } = read(formatReceipt([level], options, true))
  assert.ok(head.startsWith(`${PUBLISHED},`))
  const [row] = rows
  assert.equal([row?.n, row?.rep, row?.mode, row?.ok, row?.failed], ['2', '1', 'cold', '2', '0'])
  assert.equal([row?.ready_min_s, row?.ready_max_s, row?.spread_s, row?.wall_s], ['2.000', '3.000', '1.000', '3.000'])
  assert.is(row?.client_cpu_ms, '5.00')
  assert.is(row?.colds, '2')
})

test('failures are counted by what lies beneath them; what is unknown is empty, not zero', () => {
  const cause = { tag: 'daytona-rate-limited', message: 'too many' }
  const failures = [{ tag: 'provision-failed', message: 'no', cause }]
  const [row] = read(formatReceipt([makeLevel({ width: 1 }, { failures })], options, true)).rows
  assert.is(row?.failure_tags, 'provision-failed<daytona-rate-limited:1')
  assert.equal(
    [row?.ok, row?.failed, row?.ready_p50_s, row?.lease_p50_ms, row?.create_failures],
    ['0', '1', '', '', ''],
  )
})

test('it says how to make it again and whether it is whole', () => {
  const about = read(formatReceipt([], options, false)).about.join('\n')
  for (const says of [/--seed 3/, /complete: false/, new RegExp(`node: ${process.version}`), /sdk: \d/, /machine: \d/])
    assert.match(about, says)
})

test('every row has as many fields as there are columns', () => {
  const text = formatReceipt(
    [makeLevel({}), makeLevel({ mode: 'published' }, { samples: [makeSample(1)] })],
    options,
    true,
  )
  const counts = text
    .trimEnd()
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .map(line => line.split(',').length)
  assert.is(new Set(counts).size, 1)
})

test.run()

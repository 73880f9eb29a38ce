import * as assert from 'uvu/assert'
import { formatTable } from '../../bench/table.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench table')

const rows = [
  {
    name: 'fast',
    value: 12_345.6,
    unit: 'a/s',
    spread: 1_234.56,
    reference: 'other 6,000 a/s',
    ratio: 2.05,
    aim: '>= 2 x',
    met: true,
  },
  { name: 'slow', value: 0.5, unit: 'ms', aim: '< 0.1', met: false },
]

test('all benchmarks are one table, each under its heading, with the spread in percent', () => {
  const text = formatTable([
    { bench: 'one', title: 'the first', tookMs: 1_250, rows },
    { bench: 'two', title: 'the second', tookMs: 10, rows: [], incomplete: 'failed: no disk' },
  ])
  const lines = text.split('\n')
  assert.is(lines.filter(line => line.includes('against')).length, 1)
  assert.ok(
    lines.some(line => /one .*the first \(1\.3 s\)/.test(line)),
    text,
  )
  assert.ok(
    lines.some(line => /two .*the second; INCOMPLETE: failed: no disk/.test(line)),
    text,
  )
  assert.ok(
    lines.some(line => /fast .*12,346 .*a\/s .*± 10 % .*other 6,000 a\/s .*2\.05 x .*>= 2 x .*yes/.test(line)),
    text,
  )
  assert.ok(
    lines.some(line => /slow .*0\.5 .*ms .*< 0\.1 .*NO/.test(line)),
    text,
  )
  assert.is(new Set(lines.map(line => line.length)).size, 1)
})

test.run()

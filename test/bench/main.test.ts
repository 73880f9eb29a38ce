import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import * as assert from 'uvu/assert'
import { readReceiptFile } from '../../src/receipts/index.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('bench main')
const DEADLINE_MS = 120_000

const bench = (...argv: string[]) =>
  execa(process.execPath, [fileURLToPath(new URL('../../bench/main.js', import.meta.url)), ...argv], {
    reject: false,
    timeout: DEADLINE_MS,
  })

test(
  'what is named is one table and one receipt, whose figures are all there',
  () =>
    withFiles({}, async directory => {
      const out = join(directory, 'deep', 'bench.csv')
      const { stdout, stderr, exitCode } = await bench('batcher', 'codec', '--quick', '--out', out)
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, /bench .*name .*value .*unit .*spread .*against .*ratio .*aim .*met/)
      assert.match(stdout, /batcher .*groups of 8/)
      assert.match(stdout, /trajectory: unpack .*µs .*± .*JSON/)
      assert.match(stderr, /2 benchmarks in .*receipt: .*bench\.csv/)
      const { kind, about, rows } = await readReceiptFile(out)
      assert.equal([kind, about.complete, about.quick, about.benches], ['bench', 'true', 'true', 'batcher codec'])
      assert.equal([...new Set(rows.map(row => row.bench))], ['batcher', 'codec'])
      for (const { name, value, ratio } of rows) {
        assert.ok(Number(value) > 0 && Number.isFinite(Number(value)), `${name}: ${value}`)
        assert.ok(ratio === '' || Number(ratio) > 0, `${name}: ${ratio}`)
      }
    }),
  { deadlineMs: DEADLINE_MS },
)

test('a benchmark that there is not ends it with 2 before anything begins, and says which there are', async () => {
  const { stdout, stderr, exitCode } = await bench('batcher', 'brewer')
  assert.is(exitCode, 2)
  assert.is(stdout, '')
  assert.match(stderr, /^no benchmark is called brewer; there are kernel, codec/)
})

test('an option that there is not is one line, and no stack', async () => {
  const { stderr, exitCode } = await bench('--quickly')
  assert.is(exitCode, 2)
  assert.is(stderr.split('\n').length, 1)
  assert.match(stderr, /--quickly/)
})

test('a receipt that cannot be written is told before anything begins', async () => {
  const { stdout, stderr, exitCode } = await bench('batcher', '--quick', '--out', '/dev/null/bench.csv')
  assert.is(exitCode, 2)
  assert.is(stdout, '')
  assert.match(stderr, /could not be written/)
})

test(
  'Ctrl-C keeps what is done, marks it, and exits with 130',
  () =>
    withFiles({}, async directory => {
      const out = join(directory, 'bench.csv')
      const running = bench('batcher', 'pool', 'kernel', '--quick', '--out', out)
      running.stderr.on('data', (data: Buffer) => {
        if (String(data).includes('pool …')) running.kill('SIGINT')
      })
      const { stdout, exitCode } = await running
      assert.is(exitCode, 130)
      assert.match(stdout, /pool .*INCOMPLETE: interrupted/)
      const { about, rows } = await readReceiptFile(out)
      assert.match(about.complete ?? '', /^false: pool interrupted; not begun: kernel/)
      assert.ok(rows.some(row => row.bench === 'batcher' && Number(row.value) > 0))
    }),
  { deadlineMs: DEADLINE_MS },
)

test.run()

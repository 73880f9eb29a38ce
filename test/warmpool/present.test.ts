import * as assert from 'uvu/assert'
import { formatReceipt, readReceipt } from '../../src/receipts/index.ts'
import type { PoolMeasurement } from '../../src/warmpool/columns.ts'
import { runForkBench } from '../../src/warmpool/fork-bench.ts'
import { presentPoolReceipt } from '../../src/warmpool/present.ts'
import { type PoolReceiptKind, toPoolReceipt } from '../../src/warmpool/receipt.ts'
import { renderPoolReport, reportOf } from '../../src/warmpool/render.ts'
import { runWarmpool } from '../../src/warmpool/warmpool.ts'
import { suite } from '../support/suite.ts'
import { makeScene } from './fake-client.ts'

const test = suite('what is made of a measured pool')

const pool = await runWarmpool(
  { width: 4, size: 4, source: 'prewarm', batches: 3, repetitions: 2 },
  makeScene().ports,
  () => {},
)
const forks = await runForkBench(
  { width: 8, parents: [1, 4, 8], batches: 2, repetitions: 1 },
  makeScene().ports,
  () => {},
)

const wordsOf = (kind: PoolReceiptKind, measured: PoolMeasurement) => reportOf(kind, measured).words

test('the pool is put in words: fill, refill, how much sooner, and the batches that did not wait', () => {
  assert.equal(wordsOf('warmpool', pool), [
    'A pool of 4 took 400 ms to fill, and was full again 200 ms after a batch of 4 had been given back.',
    'Half of 4 sandboxes asked for at once were usable in 10.0 ms, against 1.00 s cold: 100.0 times as quick. 4 of 4 were found ready.',
    'A second batch right behind the first found 2 of 4 ready, and half of it was usable in 10.0 ms.',
    'A third batch right behind the second found 1 of 4 ready, and half of it was usable in 1.00 s.',
    'Medians of 2 repetitions, in turns.',
  ])
})

test('the best number of parents is named, and that one repetition says little', () => {
  const [best, caution] = wordsOf('fork-bench', forks)
  assert.match(
    best ?? '',
    /^At 8 wide, 8 parents did best, .* usable in 125 ms, against 1\.00 s cold: 8\.0\d times as quick/,
  )
  assert.match(caution ?? '', /^One repetition/)
})

test('of numbers of parents that are about as good, the least is best', () => {
  const levels = [
    { phase: 'fork', errors: '', n: 8, parents: 8, ready_p50_s: 1, ok: 8 },
    { phase: 'fork', errors: '', n: 8, parents: 4, ready_p50_s: 1.04, ok: 8 },
    { phase: 'fork', errors: '', n: 8, parents: 1, ready_p50_s: 1.06, ok: 8 },
  ] as const
  assert.match(wordsOf('fork-bench', { levels, moments: [] })[0] ?? '', /4 parents did best/)
})

test('a pool that is no quicker is not praised, and failures and leaks are told', () => {
  const levels = [
    { phase: 'cold', errors: '', n: 4, ready_p50_s: 1, ok: 4 },
    { phase: 'warm', errors: 'pool-full:2', n: 4, size: 4, ready_p50_s: 2, ok: 2, failed: 2, leaked: 1, hit_rate: 1 },
  ] as const
  const words = wordsOf('warmpool', { levels, moments: [] }).join('\n')
  assert.match(words, /which is no gain/)
  assert.match(words, /2 of 8 sandboxes failed\.\n1 sandboxes were left behind\.\nErrors seen: pool-full:2\./)
})

test('tables carry the ratios, and what was held from beginning to end', () => {
  const text = renderPoolReport(reportOf('warmpool', pool))
  assert.match(text, /│ cold \/ warm │\s+× 100\.0 │/)
  // 3 ms when asked, and 8 ms before: of the second round too.
  assert.match(text, /│ warm\s+│.*│\s+11\.0 ms │\s+8\.00 ms │/)
  assert.match(text, /│ fill\s+│ 0\.0–0\.4 s │ 0 → 4 │/)
  assert.match(text, /│ 2\s+│\s+2 of 4 │\s+0 │\s+50\.0 % │/)
})

for (const [kind, measured] of [
  ['warmpool', pool],
  ['fork-bench', forks],
] as const)
  test(`${kind}: picture and page are made from the receipt’s text alone, the same bytes each time, and need nothing else`, () => {
    const about = { command: 'troupe <script>alert(1)</script>', provider: 'a & b' }
    const text = formatReceipt(toPoolReceipt(kind, measured, about, 'true'))
    const [one, other] = [1, 2].map(() => presentPoolReceipt(readReceipt(text, 'a.csv'), kind, 'a.csv'))
    assert.equal(one, other)
    assert.match(one?.svg ?? '', /^<svg role="img"[\s\S]*<title>\d sandboxes at once/)
    assert.match(one?.svg ?? '', />batch 2</)
    const html = one?.html ?? ''
    assert.not.match(html, /<script/)
    assert.match(html, /troupe &lt;script&gt;alert/)
    assert.not.match(html.replaceAll('http://www.w3.org/', ''), /https?:|<link|src=/)
  })

test.run()

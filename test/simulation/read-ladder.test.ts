import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { readLadder } from '../../src/simulation/read-ladder.ts'
import { suite } from '../support/suite.ts'

const test = suite('simulation: reading ladders')

const PUBLISHED = `n,rep,mode,ok,failed,ready_p50_s,ready_p95_s,ready_min_s,ready_max_s,spread_s,wall_s
8,1,cold,8,0,3.28,3.49,2.92,3.5,0.58,7.97
256,3,cold,255,1,9.9,11.12,8.37,15.11,6.75,62.11
`

test('the published columns are enough, comments and further columns are passed over', () => {
  const row = { n: 8, mode: 'cold', ok: 8, failed: 0, readyP50S: 3.28, readyP95S: 3.49 }
  assert.equal(readLadder(PUBLISHED, 'a.csv'), [
    row,
    { ...row, n: 256, ok: 255, failed: 1, readyP50S: 9.9, readyP95S: 11.12 },
  ])
  const ours = `# made: today\n#,\nmode,ready_p95_s,lease_p50_ms,ready_p50_s,n\nfork,2.5,,2,4\n`
  assert.equal(readLadder(ours, 'b.csv'), [{ n: 4, mode: 'fork', ok: 4, failed: 0, readyP50S: 2, readyP95S: 2.5 }])
})

test('a level in which nothing became ready tells nothing', () => {
  const rows = readLadder(`${PUBLISHED}512,1,cold,0,512,,,,,,1\n`, 'a.csv')
  assert.equal(
    rows.map(({ n }) => n),
    [8, 256],
  )
})

for (const [what, text, tag, says] of [
  [
    'another table',
    'step,loss\n1,2\n',
    'receipt-columns',
    /no column n, mode, ready_p50_s, ready_p95_s \(row 1 has step, loss\)/,
  ],
  ['another kind', '# kind: bench\nstep,loss\n1,2\n', 'receipt-foreign', /of kind bench, and one of kind ladder/],
  ['nothing', '', 'receipt-empty', /holds no table/],
  ['a word for a figure', PUBLISHED.replace('9.9,', 'slow,'), 'receipt-cell', /row 3, column ready_p50_s is "slow"/],
  ['no figure', PUBLISHED.replace('3.49', ''), 'receipt-cell', /row 2, column ready_p95_s is ""/],
  ['a negative width', PUBLISHED.replace('8,1,cold', '-8,1,cold'), 'receipt-cell', /row 2, column n is "-8"/],
  ['a row that is cut', PUBLISHED.replace(',6.75,62.11', ''), 'receipt-cell', /row 3, .*9 cells under 11 columns/],
  ['a head alone', 'n,mode,ready_p50_s,ready_p95_s\n', 'receipt-empty', /has no level/],
  [
    'failures alone',
    '# a\nn,mode,ok,ready_p50_s,ready_p95_s\n8,cold,0,,\n',
    'receipt-empty',
    /no level in which a sandbox became/,
  ],
] as const)
  test(`${what} is refused by file, row and column`, () => {
    assert.throws(
      () => readLadder(text, 'a.csv'),
      (error: unknown) =>
        error instanceof TroupeError &&
        error.tag === tag &&
        error.message.startsWith('a.csv') &&
        says.test(error.message),
    )
  })

test.run()

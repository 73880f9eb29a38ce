import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { aboutMachine, formatReceipt, RECEIPT_KINDS, readReceipt, wantKind } from '../../src/receipts/index.ts'
import { suite } from '../support/suite.ts'

const test = suite('receipts: the format')

const LADDER = `# kind: ladder
# command: troupe ladder --widths 1,8
# complete: true
n,rep,mode,ready_p50_s,ready_p95_s
1,1,cold,2.5,2.5
8,1,cold,2.8,3.1
`

test('a receipt is lines about it and a table', () => {
  const receipt = readReceipt(LADDER, 'a.csv')
  assert.is(receipt.kind, 'ladder')
  assert.equal(receipt.about, { command: 'troupe ladder --widths 1,8', complete: 'true' })
  assert.equal(receipt.columns, ['n', 'rep', 'mode', 'ready_p50_s', 'ready_p95_s'])
  assert.equal(receipt.rows[1], { n: '8', rep: '1', mode: 'cold', ready_p50_s: '2.8', ready_p95_s: '3.1' })
  assert.equal(receipt.lines, [5, 6])
  assert.is(formatReceipt(receipt), LADDER)
})

/** Text, that is: a file with these in it is taken for none. */
const isText = (text: string) => !/[\0\uFFFD]/.test(text)
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).filter(isText),
  fc.constantFrom(
    '',
    '#',
    '# a',
    ' a ',
    '"',
    '""',
    'a,b',
    '\r',
    '\n',
    '\r\n',
    'a\r',
    '\n#b',
    '\t',
    '\uFEFF',
    'a\u2028b',
    '=1+1',
  ),
)
const names = fc.uniqueArray(
  nasty.filter(name => name.trim() !== ''),
  { minLength: 1, maxLength: 5 },
)

test('whatever is in its cells, a receipt is read as it was written', () => {
  fc.assert(
    fc.property(
      names.chain(columns =>
        fc.record({ columns: fc.constant(columns), cells: fc.array(fc.tuple(...columns.map(() => nasty))) }),
      ),
      fc.dictionary(fc.constantFrom('made', 'command', 'seed', '__proto__', 'to string'), nasty),
      fc.constantFrom(...RECEIPT_KINDS.filter(kind => kind !== 'ladder')),
      ({ columns, cells }, about, kind) => {
        const rows = cells.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? ''])))
        const { lines, ...read } = readReceipt(formatReceipt({ kind, about, columns, rows }), 'a.csv')
        assert.is(lines?.length, rows.length)
        assert.equal(read.columns, columns)
        assert.equal(
          read.rows.map(row => Object.entries(row)),
          rows.map(row => Object.entries(row)),
        )
        for (const [key, value] of Object.entries(about)) {
          assert.not.match(read.about[key] ?? '', /[\r\n]/)
          assert.is(read.about[key]?.replaceAll(/\s/g, ''), value.replaceAll(/\s/g, ''))
        }
      },
    ),
  )
})

test('rows are told by the line on which they begin, over comments, gaps and cells of several lines', () => {
  const text = `\uFEFF# kind: bench\r\n\r\n# a: b\r\nx,y\r\n# out\r\n1,"2\r\n3"\r\n\r\n4,5\r\n`
  const { about, rows, lines } = readReceipt(text, 'a.csv')
  assert.equal(about, { a: 'b' })
  assert.equal(rows, [
    { x: '1', y: '2\r\n3' },
    { x: '4', y: '5' },
  ])
  assert.equal(lines, [6, 9])
})

test('nothing that is told about the receipt can begin a line of its own', () => {
  const text = formatReceipt({
    kind: 'bench',
    about: { note: 'a\n# kind: ladder', 'k: b\nx': 'y' },
    columns: ['a'],
    rows: [],
  })
  assert.is(text, '# kind: bench\n# note: a # kind: ladder\n# k- b x: y\na\n')
})

test('the published columns make a ladder of a CSV that says nothing of itself', () => {
  assert.is(readReceipt('mode,ready_p95_s,ready_p50_s,n\ncold,3,2,8\n', 'a.csv').kind, 'ladder')
})

for (const [what, text, tag, says] of [
  ['JSON', '\n{"a": 1}\n', 'receipt-foreign', /^a\.csv, row 1: it is JSON, it seems.*`troupe ladder` writes one/],
  ['a picture', '<svg role="img">\n', 'receipt-foreign', /^a\.csv, row 1: it is HTML or SVG/],
  ['what is no text', 'PK\u0003\u0004\0\0', 'receipt-foreign', /^a\.csv, row 1: it is no text/],
  [
    'an unknown kind',
    '# made: x\n# kind: tea\na\n1\n',
    'receipt-foreign',
    /row 2: its kind is "tea".* warmpool, fork-bench/,
  ],
  [
    'another table',
    '# hm\nstep,loss\n1,2\n',
    'receipt-columns',
    /no column n, mode, ready_p50_s, ready_p95_s \(row 2 has step, loss\)/,
  ],
  ['a column twice', '# kind: bench\na,b,a\n1,2,3\n', 'receipt-columns', /row 2 has the column "a" twice/],
  ['nothing', ' \n', 'receipt-empty', /^a\.csv holds no table/],
  ['words about nothing', '# kind: ladder\n', 'receipt-empty', /^a\.csv holds no table/],
  [
    'a row that is cut',
    `${LADDER}8,2,cold\n`,
    'receipt-cell',
    /row 7, column ready_p50_s: there are 3 cells under 5 columns/,
  ],
  ['a row too long', `${LADDER}8,2,cold,1,1,1\n`, 'receipt-cell', /row 7, column ready_p95_s: there are 6 cells/],
  ['a quote that never closes', `${LADDER}8,2,"cold,1,1\n`, 'receipt-cell', /row 7, column \w+: a quote opens there/],
  [
    'a quote within a cell',
    `${LADDER}8,2,co"ld,1,1\n`,
    'receipt-cell',
    /row 7, column mode: a quote stands in the middle/,
  ],
  [
    'a cell that goes on after its quote',
    `${LADDER}8,2,"co"ld,1,1\n`,
    'receipt-cell',
    /row 7, column mode: something follows/,
  ],
] as const)
  test(`${what} is refused by file, row and column`, () => {
    assert.throws(
      () => readReceipt(text, 'a.csv'),
      (error: unknown) =>
        error instanceof TroupeError && error.tag === tag && error.data.address === 'a.csv' && says.test(error.message),
    )
  })

test('a receipt of another kind is refused by both kinds', () => {
  const receipt = readReceipt('# kind: bench\na\n1\n', 'a.csv')
  assert.is(wantKind(receipt, 'bench', 'a.csv'), receipt)
  for (const kind of RECEIPT_KINDS.filter(other => other !== 'bench'))
    assert.throws(
      () => wantKind(receipt, kind, 'a.csv'),
      (error: unknown) =>
        error instanceof TroupeError &&
        error.tag === 'receipt-foreign' &&
        error.message.startsWith(
          `a.csv is a receipt of kind bench, and one of kind ${kind} is wanted here. Name another file: `,
        ),
    )
})

test('what is told of the machine names neither host nor user, and no place on it', () => {
  const about = aboutMachine(new Date(0))
  assert.equal(Object.keys(about), ['made', 'troupe', 'node', 'machine', 'load'])
  assert.is(about.made, '1970-01-01T00:00:00.000Z')
  assert.match(about.troupe ?? '', /^\d+\.\d+\.\d+/)
  assert.match(about.machine ?? '', /^\d+ × .+, \d+ GiB, \w+ \d/)
  const text = Object.values(about).join('\n')
  for (const private_ of [process.cwd(), process.env.HOME])
    if (private_ !== undefined) assert.not.ok(text.includes(private_))
})

test.run()

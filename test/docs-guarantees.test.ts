/** What is promised, or said to be handled, stands in docs together with the tests behind it: those must be there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { repository } from './support/source-imports.ts'
import { suite } from './support/suite.ts'

const test = suite('docs that name tests')

/** Each page, what its tables are called by, which is the head of their first column, and which rows have tests: all, or those whose second cell says so. */
const PAGES: readonly {
  readonly page: string
  readonly first: string
  readonly least: number
  readonly says?: string
}[] = [
  { page: 'docs/guarantees.md', first: 'promise', least: 20 },
  { page: 'docs/field-pains.md', first: 'elsewhere', least: 50 },
  { page: 'docs/hud-compat.md', first: 'feature', least: 100, says: 'yes' },
]

for (const { page, first, least, says } of PAGES) {
  const text = readFileSync(join(repository, page), 'utf8')
  const rows = findRows(text, first)

  test(`${page}: every test that it names is there`, () => {
    const named = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
    assert.ok(named.length > 30, 'the tests are found at all')
    assert.equal(
      named.filter(path => !path.endsWith('.test.ts') || !existsSync(join(repository, path))),
      [],
    )
  })

  test(`${page}: every row${says === undefined ? '' : ` that says ${says}`} has a test behind it`, () => {
    assert.ok(rows.length > least, 'the rows are found at all')
    const wanted = rows.filter(({ second }) => says === undefined || second === says)
    assert.equal(
      wanted.filter(({ tests }) => !tests.includes('.test.ts`')).map(({ row }) => row),
      [],
    )
  })

  test(`${page}: what it quotes of a test’s title stands in its file`, () => {
    assert.equal(
      rows.flatMap(({ tests }) => findWrongTitles(tests)),
      [],
    )
  })
}

test('docs/hud-compat.md: every row says yes, partly or no', () => {
  const rows = findRows(readFileSync(join(repository, 'docs/hud-compat.md'), 'utf8'), 'feature')
  assert.equal(
    rows.filter(({ second }) => !['yes', 'partly', 'no'].includes(second)).map(({ row }) => row),
    [],
  )
})

test('a row without a test, and a title that has changed, are noticed', () => {
  const [bare] = findRows('| promise | tests |\n| --- | --- |\n| It holds. | we hope |\n', 'promise')
  assert.equal(bare, { row: 'It holds.', second: 'we hope', tests: 'we hope' })
  const here = '`test/docs-guarantees.test.ts`'
  assert.equal(findWrongTitles(`${here} “every row has a test behind it”<br>${here}`), [])
  const gone = ['never', 'said'].join(' ')
  assert.equal(findWrongTitles(`${here} “docs that name tests” “${gone}”`), [`test/docs-guarantees.test.ts: ${gone}`])
})

interface Row {
  readonly row: string
  readonly second: string
  readonly tests: string
}

/** Rows of the tables whose first column is called `first`; tests stand in the last. */
function findRows(markdown: string, first: string): readonly Row[] {
  const found: Row[] = []
  let isTable = false
  for (const line of markdown.split('\n')) {
    const cells = line.split('|').map(cell => cell.trim())
    if (!line.startsWith('|')) isTable = false
    else if (cells[1] === first) isTable = true
    else if (isTable && !/^-+$/.test(cells[1] ?? ''))
      found.push({ row: cells[1] ?? '', second: cells[2] ?? '', tests: cells.at(-2) ?? '' })
  }
  return found
}

/** `file` “title” “title”: titles, or parts of them, which the file does not have. */
function findWrongTitles(tests: string): string[] {
  return tests.split('<br>').flatMap(entry => {
    const [, path = ''] = /`(test\/[^`]+)`/.exec(entry) ?? []
    const titles = [...entry.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title)
    if (titles.length === 0) return []
    const source = readFileSync(join(repository, path), 'utf8').replaceAll("\\'", "'")
    return titles.filter(title => !source.includes(title)).map(title => `${path}: ${title}`)
  })
}

test.run()

/** A promise stands in docs/guarantees.md together with the tests behind it: those must be there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { repository } from './support/source-imports.ts'
import { suite } from './support/suite.ts'

const test = suite('docs/guarantees.md')

const text = readFileSync(join(repository, 'docs/guarantees.md'), 'utf8')
const promises = findPromises(text)

test('every test that it names is there', () => {
  const named = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
  assert.ok(named.length > 30, 'the tests are found at all')
  assert.equal(
    named.filter(path => !path.endsWith('.test.ts') || !existsSync(join(repository, path))),
    [],
  )
})

test('every promise has a test behind it', () => {
  assert.ok(promises.length > 20, 'the promises are found at all')
  assert.equal(
    promises.filter(({ tests }) => !tests.includes('.test.ts`')).map(({ promise }) => promise),
    [],
  )
})

test('a promise without a test is noticed', () => {
  const [bare] = findPromises('| promise | tests |\n| --- | --- |\n| It holds. | we hope |\n')
  assert.equal(bare, { promise: 'It holds.', tests: 'we hope' })
})

/** Rows of the tables that have promises: what is promised stands in the first column, its tests in the last. */
function findPromises(markdown: string): readonly { readonly promise: string; readonly tests: string }[] {
  const found: { readonly promise: string; readonly tests: string }[] = []
  let isTable = false
  for (const line of markdown.split('\n')) {
    const cells = line.split('|').map(cell => cell.trim())
    if (!line.startsWith('|')) isTable = false
    else if (cells[1] === 'promise') isTable = true
    else if (isTable && !/^-+$/.test(cells[1] ?? '')) found.push({ promise: cells[1] ?? '', tests: cells.at(-2) ?? '' })
  }
  return found
}

test.run()

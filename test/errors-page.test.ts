/** docs/errors.md has every tag that an error can have, with what it says: it is made from the sources, and is what would be made now. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { repository } from './support/source-imports.ts'
import { suite } from './support/suite.ts'

const test = suite('the page of errors')
const run = promisify(execFile)
const page = readFileSync(join(repository, 'docs/errors.md'), 'utf8')
const rows = page.split('\n').filter(line => line.startsWith('| `'))
const told = new Set(rows.map(row => /^\| `([a-z0-9-]+)` /.exec(row)?.[1] ?? ''))

/** Every TypeScript file under the folders, as text. */
function readTexts(...folders: readonly string[]): readonly string[] {
  return folders
    .flatMap(folder => readdirSync(join(repository, folder), { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
}

test('it is what the sources say', async () => {
  await run(process.execPath, [join(repository, 'scripts/errors-page.mjs'), '--check'])
})

/** Found without the reader that makes the page, by two ways of naming a tag: to give it, and to ask for it. */
test('no tag that is given or asked for in the sources is missing', () => {
  const named = readTexts('src', 'actors').flatMap(text => [
    ...[...text.matchAll(/\btag: '([a-z][a-z0-9-]*)'(?! \|)/g)].map(([, tag = '']) => tag),
    ...[...text.matchAll(/\bhasTag\(\w+, '([a-z0-9-]+)'\)/g)].map(([, tag = '']) => tag),
  ])
  assert.ok(new Set(named).size > 300, 'the tags are found at all')
  assert.equal([...new Set(named)].filter(tag => !told.has(tag)).sort(), [])
})

test('tags that are given to a helper, chosen or spelled out are there', () => {
  const made = ['empty-taskset', 'bad-template', 'unknown-run', 'ambiguous-job', 'docker-conflict', 'port-in-use']
  const chosen = ['daytona-rate-limited', 'report-unauthorized', 'taskset-conflict', 'rate-limited', 'token-refused']
  assert.equal(
    [...made, ...chosen].filter(tag => !told.has(tag)),
    [],
  )
})

test('each says something', () => {
  const silent = rows.filter(row => (row.split(/(?<!\\)\|/)[2] ?? '').trim().length < 12)
  assert.equal(silent, [])
})

test('what docs/operations.md says of errors is about tags that are there', () => {
  const operations = readFileSync(join(repository, 'docs/operations.md'), 'utf8')
  const [, section = ''] = operations.split('## When something fails')
  const [table = ''] = section.split('\n## ')
  const named = [...table.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, tag = '']) => tag)
  const outcomes = ['agent-error', 'environment-error', 'infrastructure-error']
  assert.ok(named.length > 40, 'the tags are found at all')
  assert.equal(
    named.filter(tag => !told.has(tag) && !outcomes.includes(tag)),
    [],
  )
})

test.run()

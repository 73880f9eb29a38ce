/** docs/embedding.md says what can be relied on: its tables are those of the code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readPage } from '../../docs/site/page.ts'
import { CHANNELS } from '../../src/telemetry/channels.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('docs/embedding.md')
const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const page = read('docs/embedding.md')

/** What the first cells of the table under that head name. */
function firstCells(head: string): readonly string[] {
  const rows = page.slice(page.search(new RegExp(`^\\| ${head} `, 'm'))).split('\n')
  const end = rows.findIndex(row => !row.startsWith('|'))
  return rows.slice(2, end).map(row => /`([^`]+)`/.exec(row)?.[1] ?? row)
}

test('lists every channel on which something is published, and no other', () => {
  assert.equal([...firstCells('channel')].sort(), Object.values(CHANNELS).sort())
})

test('no other file of the library makes a channel, so that those are all there are', () => {
  const files = ['src', 'actors'].flatMap(folder =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => `${folder}/${name}`),
  )
  assert.ok(files.length > 300, 'the files are found at all')
  const publishers = files.filter(file => /\b(channel|tracingChannel)\(/.test(withoutComments(read(file))))
  const importers = files.filter(file => /from 'node:diagnostics_channel'/.test(read(file)))
  assert.equal(
    publishers.filter(file => importers.includes(file)),
    ['src/telemetry/channels.ts'],
  )
})

test('every channel is published to', () => {
  const sources = ['src', 'actors'].flatMap(folder =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => withoutComments(read(`${folder}/${name}`))),
  )
  const silent = Object.keys(CHANNELS).filter(
    name => !sources.some(text => new RegExp(`publish\\(\\s*'${name}'`).test(text)),
  )
  assert.equal(silent, [])
})

test('lists every entry of the package', () => {
  const { exports } = JSON.parse(read('package.json'))
  const entries = Object.keys(exports)
    .filter(each => each !== './package.json')
    .map(each => each.replace('.', 'troupe'))
  assert.equal([...firstCells('entry')].sort(), entries.sort())
})

test('its first program has fewer than 20 lines', () => {
  const program = readPage('docs/embedding.md', page).blocks.find(({ language }) => language === 'js')
  assert.ok(program !== undefined && program.text.split('\n').length < 20)
})

test('every example that it names is there, and is run by the end-to-end tests', () => {
  const named = [...page.matchAll(/\(\.\.\/examples\/([\w-]+)\.ts\)/g)].map(([, name = '']) => name)
  const runs = read('test/end-to-end/examples.test.ts')
  assert.ok(named.length > 5)
  assert.equal(
    named.filter(name => !existsSync(join(repository, `examples/${name}.ts`))),
    [],
  )
  assert.equal(
    named.filter(name => !new RegExp(`runs\\(\\s*'${name}'`).test(runs)),
    [],
  )
})

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}

test.run()

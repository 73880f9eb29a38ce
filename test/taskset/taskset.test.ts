import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'

const test = suite('taskset')
let directory = ''
test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'troupe-taskset-'))
})
test.after(() => rm(directory, { recursive: true, force: true }))

async function file(name: string, content: string): Promise<string> {
  const path = join(directory, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, content)
  return path
}

async function failure(act: () => unknown): Promise<TroupeError> {
  try {
    await act()
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const row = (slug: string) => `{"env": "calc", "id": "fix", "slug": "${slug}"}`
const numbered = new Taskset(
  'numbered',
  Array.from({ length: 20 }, (_, variant) => ({ env: 'calc', id: variant < 16 ? 'fix' : 'held', args: { variant } })),
)

test('an object, a list and lines of JSON are read alike', async () => {
  const one = await Taskset.load(await file('one.json', row('a')))
  const list = await Taskset.load(await file('list.json', `[${row('a')},\n${row('b')}]`))
  const lines = await Taskset.load(await file('lines.jsonl', `${row('a')}\n\n${row('b')}\n`))
  assert.equal([one.name, list.name, lines.name], ['one', 'list', 'lines'])
  assert.is(one.tasks.length, 1)
  assert.equal(list.tasks, lines.tasks)
  assert.is(one.environment, undefined)
})

test('a directory is read from its tasks file, is named after itself and finds the environment beside it', async () => {
  const tasks = await file('calc/tasks.ts', `export const tasks: unknown[] = [${row('a')}]`)
  const environment = await file('calc/env.ts', 'export {}')
  for (const path of [join(tasks, '..'), tasks]) {
    const taskset = await Taskset.load(path)
    assert.is(taskset.name, 'calc')
    assert.is(taskset.environment, environment)
  }
})

test('a module exports a list, a taskset or one task, as default or as tasks', async () => {
  const load = async (name: string, code: string) => await Taskset.load(await file(`modules/${name}.ts`, code))
  assert.is((await load('list', `export default [${row('a')}, ${row('b')}]`)).tasks.length, 2)
  assert.is((await load('task', `export default ${row('a')}`)).tasks[0]?.slug, 'a')
  const named = await load(
    'set',
    `export const tasks = { name: 'bugs', environment: '/e/env.ts', tasks: [${row('a')}] }`,
  )
  assert.equal([named.name, named.environment], ['bugs', '/e/env.ts'])
  const error = await failure(() => load('none', 'export const other = 1'))
  assert.is(error.tag, 'no-tasks-exported')
  assert.match(error.message, 'none.ts exports no tasks')
})

test('malformed JSON is told with file and line', async () => {
  const lines = await file('bad.jsonl', `${row('a')}\n{"env": "calc",\n${row('b')}\n`)
  assert.is((await failure(() => Taskset.load(lines))).data.address, `${lines}:2`)
  const json = await file('bad.json', `[\n${row('a')},\n{"env" 1}\n]`)
  const error = await failure(() => Taskset.load(json))
  assert.is(error.tag, 'malformed-json')
  assert.is(error.data.address, `${json}:3`)
  const cut = await file('cut.json', `[\n${row('a')},\n`)
  assert.is((await failure(() => Taskset.load(cut))).data.address, `${cut}:3`)
})

test('bad rows are told with file and line, or file and index', async () => {
  const lines = await file('rows.jsonl', `${row('a')}\n\n{"id": "fix"}\n${row('a')}\n`)
  const error = await failure(() => Taskset.load(lines))
  assert.equal(error.data.details?.problems, [
    { place: `${lines}:3`, problem: '"env" must be a string' },
    { place: `${lines}:4`, problem: `the slug "a" is already taken by ${lines}:1: give each row its own slug` },
  ])
  const list = await file('rows.json', '[{"env": "calc"}]')
  assert.is((await failure(() => Taskset.load(list))).data.address, `${list}[0]`)
})

test('what is not there, cannot hold tasks or is empty is an error that says what to do', async () => {
  const missing = await failure(() => Taskset.load(join(directory, 'nowhere.json')))
  assert.is(missing.tag, 'tasks-not-found')
  const text = await failure(async () => Taskset.load(await file('tasks.txt', '')))
  assert.is(text.tag, 'unsupported-tasks')
  const bare = await failure(async () => Taskset.load(join(await file('bare/readme.md', ''), '..')))
  assert.is(bare.tag, 'tasks-not-found')
  for (const [name, content] of [
    ['empty.json', '[]'],
    ['empty.jsonl', '\n'],
  ] as const)
    assert.is((await failure(async () => Taskset.load(await file(name, content)))).tag, 'empty-taskset')
})

test('tasks are selected by slug, template, index and range, each once and in their own order', () => {
  const variants = (...selectors: string[]) => numbered.select(selectors).tasks.map(task => Number(task.args.variant))
  const slug = numbered.tasks[3]?.slug ?? ''
  assert.equal(variants('19', '2-4', slug), [2, 3, 4, 19])
  assert.equal(variants('held'), [16, 17, 18, 19])
  assert.is(variants('0-15').length, 16)
  assert.is(basename(numbered.select(['0']).name), 'numbered')
})

test('every selector that names nothing is told, a range past the end too', async () => {
  const error = await failure(() => numbered.select(['0', 'nope', '10-20', '4-2']))
  assert.is(error.tag, 'unknown-task')
  assert.equal(error.data.details?.problems, [
    'no task matches "nope"',
    'no task matches "10-20"',
    'no task matches "4-2"',
  ])
  assert.is((await failure(() => numbered.select([]))).tag, 'unknown-task')
})

test.run()

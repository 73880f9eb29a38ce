import * as assert from 'uvu/assert'
import { loadPlatformTaskset } from '../../src/platform/load-taskset.ts'
import { renderTasks } from '../../src/platform/render-tasks.ts'
import { TasksetSync } from '../../src/platform/sync-taskset.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { type PlatformServer, startPlatformServer } from './support/platform-server.ts'

const test = suite('platform tasksets')
let server: PlatformServer

test.beforeEach(async () => {
  server = await startPlatformServer()
})
test.afterEach(() => server.close())

const TASKS = new Taskset('calc', [
  { env: 'calc', id: 'fix', args: { variant: 1 }, columns: { bugs: 2 } },
  { env: 'calc', id: 'fix', args: { variant: 2 }, agent_config: { max_steps: 4 } },
  { env: 'calc', id: 'plain', verifier: { env: 'judge', id: 'look', args: { strict: true } } },
]).tasks
const options = () => ({ env: server.variables })
const count = ({ plan }: Awaited<ReturnType<TasksetSync['plan']>>) =>
  [plan.create, plan.update, plan.unchanged, plan.remoteOnly].map(tasks => tasks.length)

test('tasks go there and come back as they were, under the same slugs', async () => {
  await using sync = new TasksetSync(options())
  const target = await sync.plan('calc', TASKS)
  assert.equal([target.id, count(target)], [undefined, [3, 0, 0, 0]])
  const { id, created, updated } = await sync.apply(target)
  assert.equal([created, updated], [3, 0])
  for (const name of ['calc', id]) {
    const loaded = await loadPlatformTaskset(name, options())
    assert.equal(loaded.tasks, TASKS)
    assert.equal([loaded.name, loaded.platformId, loaded.select(['0']).platformId], ['calc', id, id])
  }
  assert.equal(server.problems, [])
})

test('the plan tells new, changed, equal and foreign tasks apart, and only the first two are sent', async () => {
  server.addTaskset('calc', [
    { name: TASKS[0]?.slug ?? '', env: { name: 'calc' }, task_id: 'fix', args: { variant: 1 }, columns: { bugs: 2 } },
    { name: TASKS[1]?.slug ?? '', env: { name: 'calc' }, task_id: 'fix', args: { variant: 2 } },
    { name: 'of-somebody-else', env: { name: 'calc' }, task_id: 'other' },
  ])
  await using sync = new TasksetSync(options())
  const target = await sync.plan('calc', TASKS)
  assert.equal(count(target), [1, 1, 1, 1])
  const { created, updated } = await sync.apply(target)
  assert.equal([created, updated], [1, 1])
  assert.equal(count(await sync.plan('calc', TASKS)), [0, 0, 3, 1])
  assert.equal(count(await sync.plan('calc', TASKS, { force: true })), [3, 0, 0, 0])
  assert.is(server.taskset('calc')?.length, 4)
  assert.equal(server.problems, [])
})

test('the order of fields is no difference', async () => {
  const args = { variant: 1, deep: { b: 2, a: 1 } }
  const turned = { deep: { a: 1, b: 2 }, variant: 1 }
  server.addTaskset('calc', [{ name: 'one', env: { name: 'calc' }, task_id: 'fix', args: turned }])
  await using sync = new TasksetSync(options())
  const { tasks } = new Taskset('calc', [{ env: 'calc', id: 'fix', args, slug: 'one' }])
  assert.equal(count(await sync.plan('calc', tasks)), [0, 0, 1, 0])
})

test('what is not there is told with what to do about it', async () => {
  const byName = await failure(loadPlatformTaskset('nowhere', options()))
  assert.is(byName.tag, 'unknown-taskset')
  assert.match(byName.message, 'troupe sync <tasks> --to nowhere')
  const id = '00000000-0000-4000-8000-00000000abcd'
  assert.is((await failure(loadPlatformTaskset(id, options()))).tag, 'unknown-taskset')
  await using sync = new TasksetSync(options())
  assert.is((await failure(sync.plan(id, TASKS))).tag, 'unknown-taskset')
})

test('without a key nothing is asked; a wrong one is said to be wrong', async () => {
  const none = await failure(loadPlatformTaskset('calc', { env: { ...server.variables, HUD_API_KEY: '' } }))
  assert.is(none.tag, 'no-key')
  assert.is(server.requests.length, 0)
  const wrong = await failure(loadPlatformTaskset('calc', { ...options(), apiKey: 'another-key' }))
  assert.is(wrong.tag, 'unauthorized')
  assert.match(wrong.message, /401.*Check HUD_API_KEY/)
  assert.not.match(wrong.message, /another-key/)
})

test('a taskset of others is read, and not written', async () => {
  server.addTaskset('theirs', [{ name: 'one', env: { name: 'calc' }, task_id: 'fix' }], { canEdit: false })
  await using sync = new TasksetSync(options())
  assert.is((await sync.read('theirs')).tasks.length, 1)
  const error = await failure(sync.plan('theirs', TASKS))
  assert.is(error.tag, 'taskset-read-only')
  assert.is(server.count('tasks-upload'), 0)
})

test('a conflict, a refusal of the rows and a server that fails are told apart, and nothing is sent twice', async () => {
  await using sync = new TasksetSync(options())
  const target = await sync.plan('calc', TASKS)
  for (const [status, tag, words] of [
    [409, 'taskset-conflict', /look at the plan again/],
    [422, 'platform-refused', /Correct the rows/],
    [500, 'platform-failed', /Try again later/],
  ] as const) {
    const before = server.count('tasks-upload')
    server.meet(route => (route === 'tasks-upload' ? { type: 'status', status } : undefined))
    const error = await failure(sync.apply(target))
    assert.is(error.tag, tag)
    assert.match(error.message, words)
    assert.is(server.count('tasks-upload'), before + 1)
  }
})

test('a busy platform is asked again: it has not acted', async () => {
  server.meet((route, nth) =>
    route === 'tasks-upload' && nth === 1
      ? { type: 'status', status: 429, headers: { 'retry-after': '0' } }
      : undefined,
  )
  await using sync = new TasksetSync(options())
  const { created } = await sync.apply(await sync.plan('calc', TASKS))
  assert.is(created, 3)
})

test('rows that are wrong there are named by their place', async () => {
  server.addTaskset('broken', [{ name: 'one', env: { name: 'calc' }, task_id: 'fix', runtime_config: { image: 7 } }])
  const error = await failure(loadPlatformTaskset('broken', options()))
  assert.is(error.tag, 'bad-task-rows')
  assert.match(error.message, /hud:broken\[0\]/)
})

test('rows are written as JSON, lines, or a sheet with a column for each argument', async () => {
  const json = await renderTasks('a.json', TASKS)
  assert.equal(new Taskset('again', JSON.parse(json)).tasks, TASKS)
  const lines = (await renderTasks('a.jsonl', TASKS)).trimEnd().split('\n')
  assert.equal(
    new Taskset(
      'again',
      lines.map(line => JSON.parse(line)),
    ).tasks,
    TASKS,
  )
  const csv = (await renderTasks('A.CSV', TASKS)).split('\n')
  assert.is(csv[0], 'slug,id,env,arg:variant')
  assert.is(csv[1], `${TASKS[0]?.slug},fix,calc,1`)
  assert.is(csv[3], 'plain,plain,calc,')
  assert.is((await failure(renderTasks('a.xlsx', TASKS))).tag, 'unsupported-export')
})

test.run()

/**
 * HUD's own package at the stand-in of its platform that our tests use: what it reports and syncs is what that server takes, and it reads what we
 * have synced. So the stand-in is no looser and no stricter than HUD's client is, and ours sends what theirs does.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { PREPARE_HUD_MS, prepareHud } from '../../bench/peers/hud/venv.ts'
import { loadPlatformTaskset } from '../../src/platform/load-taskset.ts'
import { TasksetSync } from '../../src/platform/sync-taskset.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { type PlatformServer, startPlatformServer, type Trace } from '../platform/support/platform-server.ts'
import { reporterFor, runJob, sums } from '../platform/support/reported-job.ts'
import { needTime } from '../support/need-time.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite("HUD's platform, ours and HUD's client")
const run = promisify(execFile)
const script = fileURLToPath(new URL('../../../test/interop/peer/accounts.py', import.meta.url))
/** For one call: loading the package alone takes seconds, and many on a machine that is busy. */
const HUD_MS = 120_000
const LONG = { deadlineMs: HUD_MS + 30_000 }
let python = ''
let server: PlatformServer

test.before(async () => {
  needTime(PREPARE_HUD_MS)
  python = (await prepareHud(AbortSignal.timeout(PREPARE_HUD_MS), () => {})).program
})
test.beforeEach(async () => {
  server = await startPlatformServer()
})
test.afterEach(() => server.close())

/** One call of HUD's package in a process and a home of its own: its reply, from the last line that it prints. */
function ask(call: string, given: object = {}): Promise<unknown> {
  return withFiles({}, async home => {
    const { stdout } = await run(python, [script, call, JSON.stringify(given)], {
      cwd: home,
      timeout: HUD_MS,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: home, HUD_CLI_ANALYTICS_ENABLED: '0', ...server.variables },
    })
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  })
}

const fieldsOf = (value: object) => Object.keys(value).sort()

/** Which routes were asked with which fields, and what each kind of step is made of. */
function shapeOf(seen: PlatformServer) {
  const traces = [...seen.traces.values()]
  const steps = (source: string) => traces.flatMap(({ spans }) => spans.filter(({ name }) => name === `step.${source}`))
  const one = (source: string) => steps(source)[0]
  return {
    routes: [...new Set(seen.requests.map(({ route }) => route))].sort(),
    jobs: [...seen.jobs.values()].flat().map(fieldsOf),
    enter: new Set(traces.flatMap(({ enters }) => enters.flatMap(fieldsOf))),
    exit: new Set(traces.flatMap(({ exits }) => exits.flatMap(fieldsOf))),
    span: fieldsOf(one('task') ?? {}),
    attributes: fieldsOf(one('task')?.attributes ?? {}),
    order: traces.map(({ spans }) => spans.map(({ name }) => name)),
    task: steps('task').map(({ attributes }) => {
      const { task_call: call } = attributes['hud.payload']
      return [call?.phase, fieldsOf(Object(call)), fieldsOf(Object(call?.arguments))]
    }),
    user: one('user')?.attributes['hud.payload'].messages,
  }
}

test(
  'a Task.run of theirs reports what a strict platform takes, and ours reports the same routes and fields',
  async () => {
    const graded = await ask('run', { a: 3, b: 4 })
    assert.equal(graded, [1])
    assert.equal(server.problems, [])
    const theirs = shapeOf(server)
    assert.equal(theirs.routes, ['job-enter', 'trace-enter', 'trace-exit', 'upload'])
    assert.is(server.traces.size, 1)
    await server.close()

    server = await startPlatformServer()
    await runJob({ reporter: reporterFor(server), group: 1 }, sums(1))
    assert.equal(server.problems, [])
    const ours = shapeOf(server)
    assert.equal(ours.routes, theirs.routes)
    assert.equal(ours.jobs, theirs.jobs)
    assert.equal([ours.span, ours.attributes], [theirs.span, theirs.attributes])
    // Ours sees the agent's turn, and what it does not know of an agent that is a closure, its model, it does not say.
    for (const field of theirs.enter) if (field !== 'model') assert.ok(ours.enter.has(field), `enter has no ${field}`)
    for (const field of theirs.exit) assert.ok(ours.exit.has(field), `exit has no ${field}`)
    assert.equal(
      ours.task.map(([phase]) => phase),
      theirs.task.map(([phase]) => phase),
    )
    assert.equal(
      ours.task.map(([, fields]) => fields),
      theirs.task.map(([, fields]) => fields),
    )
    assert.equal(
      ours.order.map(names => names.filter(name => name !== 'step.agent')),
      theirs.order.map(names => names.filter(name => name !== 'step.agent')),
    )
  },
  LONG,
)

test(
  'their steps can be read as steps of ours are: both are read by the types of HUD',
  async () => {
    await runJob({ reporter: reporterFor(server, { samples: true }), group: 2 }, sums(2))
    const payloads = [...server.traces.values()].flatMap((trace: Trace) => trace.spans.map(span => span))
    assert.is(await ask('read_spans', { spans: payloads }), payloads.length)
  },
  LONG,
)

test(
  'what we sync their Taskset.from_api reads, and what their sync command sends we load',
  async () => {
    const taskset = new Taskset('both', [
      { env: 'sums', id: 'add', args: { a: 1, b: 2 }, columns: { level: 'easy' } },
      { env: 'sums', id: 'add', args: { a: 2, b: 2 }, slug: 'named', verifier: { env: 'judge', id: 'look' } },
    ])
    await using sync = new TasksetSync({ env: server.variables })
    await sync.apply(await sync.plan('ours', taskset.tasks))
    const rows = taskset.tasks.map(task => JSON.stringify(task)).join('\n')
    const theirs = await ask('tasksets', { there: 'ours', new: 'theirs', rows })
    assert.equal(theirs, {
      read: JSON.parse(JSON.stringify(taskset.tasks)),
      new: { create: 2, update: 0, unchanged: 0, remote_only: 0 },
      // Both sides' ideas of what is unchanged agree, whoever uploaded it.
      again: { create: 0, update: 0, unchanged: 2, remote_only: 0 },
    })
    assert.equal((await loadPlatformTaskset('theirs', { env: server.variables })).tasks, taskset.tasks)
    const { plan } = await sync.plan('theirs', taskset.tasks)
    assert.equal([plan.create.length, plan.update.length, plan.unchanged.length], [0, 0, 2])
    assert.equal(server.problems, [])
  },
  LONG,
)

test.run()

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { TasksetSync } from '../../src/platform/sync-taskset.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { type PlatformServer, startPlatformServer } from './support/platform-server.ts'

const test = suite("the command line at HUD's platform")
const arith = (name: string) => fileURLToPath(new URL(`../../../environments/arith/${name}`, import.meta.url))
const EVAL = ['--env', arith('env.ts'), '--unsafe-no-isolation', '--threads', '0', '--quiet', '--seed', '1']
let server: PlatformServer

test.beforeEach(async () => {
  server = await startPlatformServer()
})
test.afterEach(() => server.close())

const run = (argv: readonly string[], cwd: string, variables: Readonly<Record<string, string>> = server.variables) =>
  troupe(argv, { cwd, variables })
const evaluate = (cwd: string, more: readonly string[] = [], variables = server.variables, tasks = arith('tasks.ts')) =>
  run(['eval', tasks, arith('adder.ts'), ...EVAL, '--task-ids', '0-3', '--group', '2', ...more], cwd, variables)

/** Each call is a process of its own, which takes its time on a machine that is busy. */
const LONG = { deadlineMs: 90_000 }

test(
  'tasks are synced with a plan first, and nothing is changed before somebody says so',
  () =>
    withFiles({}, async cwd => {
      const dry = await run(['sync', arith('tasks.ts'), '--to', 'sums', '--dry-run'], cwd)
      assert.is(dry.exitCode, 0, dry.stderr)
      assert.match(dry.stdout, /"sums", which will be made/)
      assert.match(dry.stdout, /create +│ +16 /)
      const unasked = await run(['sync', arith('tasks.ts'), '--to', 'sums'], cwd)
      assert.is(unasked.exitCode, 2)
      assert.match(unasked.stderr, /--yes is missing/)
      assert.is(server.count('tasks-upload'), 0)
      const synced = await run(['sync', arith('tasks.ts'), '--to', 'sums', '--yes'], cwd)
      assert.is(synced.exitCode, 0, synced.stderr)
      assert.match(synced.stdout, 'synced: 16 created, 0 updated')
      assert.is(server.taskset('sums')?.length, 16)
      assert.equal(server.problems, [])
    }),
  LONG,
)

test(
  'a taskset of the platform is evaluated under a job that is linked with it, planned against, and exported',
  () =>
    withFiles({}, async cwd => {
      const { tasks } = await Taskset.load(arith('tasks.ts'))
      await using sync = new TasksetSync({ env: server.variables })
      const { id } = await sync.apply(await sync.plan('sums', tasks))
      const evaluated = await evaluate(cwd, [], server.variables, 'hud:sums')
      assert.is(evaluated.exitCode, 0, evaluated.stderr)
      assert.equal([...server.jobs.values()], [[{ name: 'sums', group: 2, taskset_id: id }]])
      assert.match(evaluated.stderr, /^reported: 8 runs, http:\/\/127\.0\.0\.1:\d+\/jobs\/[0-9a-f-]{36}$/m)
      assert.is(server.traces.size, 8)
      const again = await run(['sync', arith('tasks.ts'), '--to', 'sums', '--json'], cwd)
      const plan = JSON.parse(again.stdout)
      assert.equal([plan.status, plan.id, plan.unchanged.length, plan.create], ['up-to-date', id, 16, []])
      const exported = await run(['sync', '--to', 'sums', '--export', 'rows.jsonl'], cwd)
      assert.is(exported.exitCode, 0, exported.stderr)
      assert.equal((await Taskset.load(join(cwd, 'rows.jsonl'))).tasks, tasks)
      assert.equal(server.problems, [])
    }),
  LONG,
)

test(
  'an evaluation reports by the key alone, and not after --no-report or HUD_TELEMETRY_ENABLED=false',
  () =>
    withFiles({}, async cwd => {
      const quiet = await evaluate(cwd, ['--no-report', '--no-journal'])
      const off = await evaluate(cwd, ['--no-journal'], { ...server.variables, HUD_TELEMETRY_ENABLED: 'false' })
      for (const { exitCode, stderr } of [quiet, off]) {
        assert.is(exitCode, 0, stderr)
        assert.not.match(stderr, 'reported')
      }
      assert.equal(server.requests, [])
      const { stderr } = await evaluate(cwd, ['--no-journal'])
      assert.match(stderr, 'reported: 8 runs')
    }),
  LONG,
)

test(
  'a platform that refuses the key costs one warning, and no result',
  () =>
    withFiles({}, async cwd => {
      server.meet(() => ({ type: 'status', status: 401 }))
      const { exitCode, stdout, stderr } = await evaluate(cwd, ['--no-journal'])
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, '8 of 8 runs graded')
      assert.is(stderr.match(/was answered 401/g)?.length, 1)
      assert.match(stderr, /reported: 0 runs, 8 failed/)
    }),
  LONG,
)

test(
  'what cannot be synced or loaded is said in one line, with status 2',
  () =>
    withFiles({ 'tasks.json': '[{"env": "e", "id": "t"}]' }, async cwd => {
      const cases: readonly (readonly [readonly string[], string])[] = [
        [['sync', 'tasks.json'], "required option '--to <taskset>' not specified"],
        [['sync', '--to', 'x'], '<tasks> is missing'],
        [['sync', 'tasks.json', '--to', 'x', '--export', 'a.json'], 'do not go together'],
        [['sync', '--to', 'x', '--export', 'a.xlsx'], 'Use .json, .jsonl or .csv'],
        [['sync', '--to', 'x', '--export', 'a.json'], 'there is no taskset "x"'],
        [['eval', 'hud:x', 'scripted'], 'there is no taskset "x"'],
      ]
      for (const [argv, words] of cases) {
        const { exitCode, stderr } = await run(argv, cwd)
        assert.is(exitCode, 2, argv.join(' '))
        assert.ok(stderr.includes(words), `${argv.join(' ')}: ${stderr}`)
      }
      const keyless = await run(['sync', 'tasks.json', '--to', 'x'], cwd, { ...server.variables, HUD_API_KEY: '' })
      assert.is(keyless.exitCode, 2)
      assert.match(keyless.stderr, /HUD_API_KEY holds none/)
    }),
  LONG,
)

test.run()

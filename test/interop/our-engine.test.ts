/** Our engine at one process of HUD's that serves an environment written with its SDK. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { makeBenchDirectory } from '../../bench/directory.ts'
import type { AgentSpec } from '../../src/agents/agent.ts'
import { systemClock } from '../../src/clock.ts'
import type { RunOptions } from '../../src/job/options.ts'
import type { Run } from '../../src/rollout/run.ts'
import { UrlRuntime } from '../../src/runtimes/url.ts'
import type { TaskRow } from '../../src/taskset/parse-task-rows.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import { resultOf, troupe } from '../support/cli.ts'
import { failure } from '../wire/support/failure.ts'
import { directionSuite } from './support/direction.ts'
import { needHud } from './support/hud.ts'
import { hudArgv, hudVariables, type Served, sourceOf, startServed } from './support/places.ts'

const { test, check, rolledOut } = directionSuite(
  "our engine -> HUD's environments",
  "our engine at one of HUD's servers",
)

const WIDTH = 64
const temporary = await makeBenchDirectory()
let python: string
let served: Served

test.before(async () => {
  python = await needHud()
  const argv = hudArgv(python, 'serve', sourceOf('environments/words.py'), '--port', '0')
  served = await startServed(argv, hudVariables(temporary.directory))
})

test.after(async () => {
  await served?.process.stop()
  temporary.remove()
})

const agent = (exportName: string, config: Readonly<Record<string, unknown>> = {}): AgentSpec => ({
  kind: 'module',
  url: new URL('./support/agents.js', import.meta.url).href,
  exportName,
  config,
})

async function runAll(rows: readonly TaskRow[], spec: AgentSpec, options: RunOptions = {}): Promise<readonly Run[]> {
  const runtime = new UrlRuntime(served.url)
  try {
    const job = await new Taskset('words', rows).run(spec, { runtime, threads: 1, seed: 1, ...options })
    await job.close()
    const bySlug = new Map(rows.map((row, place) => [row.slug ?? '', place]))
    return [...job.runs].sort((one, other) => (bySlug.get(one.task.slug) ?? 0) - (bySlug.get(other.task.slug) ?? 0))
  } finally {
    await runtime.close()
  }
}

const row = (id: string, args: Readonly<Record<string, unknown>>, slug: string): TaskRow => ({
  env: 'words',
  id,
  args,
  slug,
})

test(`groups of rollouts at ${WIDTH} wide are graded to the last`, async () => {
  const rows = Array.from({ length: 32 }, (_, index) => row('add', { a: index, b: 3 }, `add-${index}`))
  const runs = await runAll(rows, agent('adder'), { group: 8, maxConcurrent: WIDTH, threads: 2 })
  check.is(runs.length, 256)
  check.equal([...new Set(runs.map(({ outcome, reward }) => `${outcome} ${reward}`))], ['graded 1'])
  check.is(new Set(runs.map(({ groupId }) => groupId)).size, 32)
  check.is(runs[0]?.trajectory.prompt, 'What is 0 + 3?')
  rolledOut(runs.length, WIDTH)
})

test('tasks are listed with their schemas, and sessions are parked, resumed and ended', async () => {
  const client = makeControlClient()
  const options = { clock: systemClock, deadlineMs: 10_000 }
  const { address } = new UrlRuntime(served.url)
  try {
    const session = await client.connect(address, options)
    check.equal(session.env, { name: 'words', version: '3.2.1' })
    check.is(session.multiplexed, false)
    const tasks = await session.listTasks()
    check.equal(
      tasks.slice(0, 3).map(({ id, returns }) => [id, returns !== undefined]),
      [
        ['add', false],
        ['talk', false],
        ['total', true],
      ],
    )
    const schema = z.object({
      required: z.array(z.string()),
      properties: z.object({ b: z.object({ default: z.number() }) }),
    })
    const { required, properties } = schema.parse(tasks[0]?.args)
    check.equal([required, properties.b.default], [['a'], 2])
    check.equal(await session.startTask('add', { a: 1 }), { prompt: 'What is 1 + 2?' })
    await session.park()
    const again = await client.connect(address, { ...options, sessionId: session.sessionId })
    check.is(again.sessionId, session.sessionId)
    check.equal(await again.grade('3'), { score: 1 })
    await again.startTask('add', { a: 1 })
    await again.cancelTask()
    check.match((await failure(again.grade('3'))).message, 'no task in progress')
    check.is(await again.end(), true)
    const gone = await failure(client.connect(address, { ...options, sessionId: session.sessionId }))
    check.match(gone.message, 'unknown session')
  } finally {
    await client.close()
  }
})

test('chat prompts, structured answers and graders of theirs', async () => {
  const [talk] = await runAll([row('talk', { topic: 'rain' }, 'talk')], agent('speaker', { answer: 'Rain!' }))
  check.is(talk?.reward, 1)
  check.equal(talk?.trajectory.prompt, [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: { type: 'text', text: 'Say something of rain.' } },
  ])
  for (const [answer, reward] of [
    ['{"parts": [1, 2], "sum": 3}', 1],
    [{ parts: [1, 2], sum: 4 }, 0.5],
    ['three', 0],
  ] as const) {
    const [total] = await runAll([row('total', { parts: [1, 2] }, 'total')], agent('speaker', { answer }))
    check.is(total?.reward, reward)
  }
  const commands = [
    row('graded', { command: 'exit 0' }, 'good'),
    row('graded', { command: 'echo why >&2; exit 3' }, 'bad'),
  ]
  const [good, bad] = await runAll(commands, agent('speaker', { answer: 'anything' }))
  check.equal([good?.reward, bad?.reward], [1, 0.5])
  const subscores = z.array(
    z.object({ name: z.string(), value: z.number(), weight: z.number(), info: z.looseObject({}).nullable() }),
  )
  const [bash, said] = subscores.parse(bad?.trajectory.grade?.subscores)
  check.equal([bash?.name, bash?.value, said?.name, said?.value], ['BashGrader', 0, 'said', 1])
  check.equal([bash?.info?.exit_code, bash?.info?.stderr], [3, 'why\n'])
  rolledOut(6)
})

test('a verifier of theirs gets the first grade in the same session, and its own is the one of record', async () => {
  const verifier = { env: 'words', id: 'verify', args: { word: 'verified' } }
  const rows = [1, 2].map(a => ({ ...row('add', { a }, `verified-${a}`), verifier }))
  const runs = await runAll(rows, agent('speaker', { answer: '3' }))
  check.equal(
    runs.map(({ outcome, reward }) => [outcome, reward]),
    [
      ['graded', 0.875],
      ['graded', 0.125],
    ],
  )
  rolledOut(2)
})

test('what fails there has a reason and no reward', async () => {
  const hows = ['start', 'grade', 'text', 'nan', 'error', 'slow'] as const
  const rows = [...hows.map(how => row('broken', { how }, how)), row('none', {}, 'none'), row('add', { b: 1 }, 'args')]
  const runs = await runAll(rows, agent('speaker', { answer: '' }), { deadlines: { grading: 1_000 }, retries: 0 })
  check.equal([...new Set(runs.map(({ outcome, reward }) => `${outcome} ${reward}`))], ['environment-error null'])
  const texts = runs.map(({ error }) => error?.message ?? '')
  for (const [place, text] of [
    /no paper/,
    /ink is dry/,
    /yield a number/,
    /non-finite/,
    /lost its glasses/,
    /grading/,
    /unknown task/,
    /bad args/,
  ].entries())
    check.match(texts[place] ?? '', text)
  check.equal(runs.map(({ failedPhase }) => failedPhase).slice(0, 2), ['starting', 'grading'])
  rolledOut(runs.length)
})

test('frames far beyond 64 KiB pass in both directions', async () => {
  const sizes = [65_000, 66_000, 1_000_000]
  const runs = await runAll(
    sizes.map(size => row('long', { size }, `long-${size}`)),
    agent('echo'),
  )
  check.equal(
    runs.map(({ reward, error }) => error?.message ?? reward),
    [1, 1, 1],
  )
  check.equal(
    runs.map(({ trajectory }) => String(trajectory.grade?.content).length),
    sizes,
  )
  rolledOut(3)
})

test('arguments arrive as they were written', async () => {
  const args = [0.1, 1e21, -2.5e-9, 9_007_199_254_740_991, 'ünï 😀 "\\', null, true, [1, { a: [] }], { '': {} }]
  const runs = await runAll(
    args.map((second, place) => row('passed', { first: 2.5, second }, `passed-${place}`)),
    agent('adder'),
  )
  check.equal(
    runs.map(({ trajectory }) => trajectory.prompt),
    [
      '2.5 0.1',
      '2.5 1e+21',
      '2.5 -2.5e-09',
      '2.5 9007199254740991',
      `2.5 'ünï 😀 "\\\\'`,
      '2.5 None',
      '2.5 True',
      "2.5 [1, {'a': []}]",
      "2.5 {'': {}}",
    ],
  )
  rolledOut(args.length)
})

test('`troupe eval` and `troupe task` take the address of a server of theirs', async () => {
  const tasks = join(temporary.directory, 'tasks.jsonl')
  writeFileSync(tasks, [1, 2, 3].map(a => JSON.stringify({ env: 'words', id: 'add', args: { a, b: 4 } })).join('\n'))
  const module = `${new URL('./support/agents.js', import.meta.url).pathname}#adder`
  const at = ['--url', served.url]
  const ended = await troupe(['eval', tasks, module, '--all', '--group', '2', ...at, '--json', '--no-journal'], {
    cwd: temporary.directory,
  })
  check.is(ended.exitCode, 0, ended.stderr)
  const { runs } = z
    .object({ runs: z.object({ graded: z.number(), passed: z.number() }) })
    .parse(resultOf(ended.stdout))
  check.equal([runs.graded, runs.passed], [6, 6])
  const started = await troupe(['task', 'start', 'add', '--args', '{"a": 5}', ...at], { cwd: temporary.directory })
  check.match(started.stdout, 'What is 5 + 2?')
  rolledOut(6)
})

test.run()

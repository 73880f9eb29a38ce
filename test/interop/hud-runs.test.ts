/** HUD's scheduler and agents, with their own tools, at environments that `troupe serve` serves. */
import { z } from 'zod'
import { loadSource } from '../support/environment-sources.ts'
import { startFakeChatServer } from '../support/fake-chat-server.ts'
import { repository } from '../support/source-imports.ts'
import { directionSuite } from './support/direction.ts'
import { type Hud, openHud } from './support/hud.ts'
import { type Served, serveOursArgv, sourceOf, startServed } from './support/places.ts'

const { test, check, rolledOut } = directionSuite("HUD's client -> our environments", "HUD's runs in our environments")

const desk = sourceOf('environments/desk.ts')
const calc = `${repository}/environments/calc/env.ts`
const WIDTH = 64

let hud: Hud
let served: Served

test.before(async () => {
  hud = await openHud()
  served = await startServed(serveOursArgv(desk))
})

test.after(async () => {
  await served?.process.stop()
  await hud?.end()
})

const run = z.object({
  slug: z.string().nullable(),
  reward: z.number(),
  status: z.string(),
  stopReason: z.string().nullable(),
  error: z.string().nullable(),
  answer: z.string().nullable(),
  groupId: z.string().nullable(),
  prompt: z.unknown(),
  isError: z.boolean(),
  content: z.string().nullable(),
  evaluation: z.record(z.string(), z.unknown()),
  phases: z.array(z.string()),
})
const job = z.object({ runs: z.array(run), reward: z.number(), errors: z.number() })

const runTaskset = (rows: readonly object[], agent: string, settings: object = {}) =>
  hud.ask(job, 'run_taskset', { rows, agent, runtime: { url: served.url }, ...settings })

const add = (a: number, b: number) => ({ env: 'desk', id: 'add', args: { a, b } })

test(`a taskset at ${WIDTH} wide is graded to the last run, in whole groups`, async () => {
  const rows = Array.from({ length: 32 }, (_, index) => add(index, 2 * index))
  const { runs, reward, errors } = await runTaskset(rows, 'Adder', { group: 8, width: WIDTH })
  check.equal([runs.length, reward, errors], [256, 1, 0])
  check.equal([...new Set(runs.map(({ status }) => status))], ['completed'])
  check.is(new Set(runs.map(({ groupId }) => groupId)).size, 32)
  check.equal(runs[0]?.phases, ['setup', 'evaluate'])
  check.is(runs[255]?.answer, '93')
  rolledOut(runs.length, WIDTH)
})

test(`each of ${WIDTH} rollouts at once has a shell in a workspace of its own`, async () => {
  const rows = Array.from({ length: WIDTH }, (_, index) => ({
    env: 'desk',
    id: 'find',
    args: { word: `word ${index}` },
  }))
  const { runs, reward } = await runTaskset(rows, 'Reader', { width: WIDTH })
  check.is(reward, 1)
  check.equal(
    runs.map(({ answer }) => answer),
    rows.map(({ args }) => args.word),
  )
  rolledOut(runs.length, WIDTH)
})

interface Functions {
  readonly functions: readonly { readonly buggy: string; readonly correct: string }[]
  functionSource(each: unknown, expression: string): string
}

test(
  'an agent with HUD’s own tools repairs calc, in a process of `troupe serve` for each rollout',
  async () => {
    const { functions, functionSource } = await loadSource<Functions>('calc/functions.ts')
    const repairs = functions.map(each => [functionSource(each, each.buggy), functionSource(each, each.correct)])
    const rows = [0, 1, 2, 5].map(variant => ({ env: 'calc', id: 'fix_calc', args: { variant } }))
    const { runs } = await runTaskset(rows, 'Repairer', {
      settings: { repairs },
      runtime: { each: serveOursArgv(calc) },
      width: 4,
    })
    check.equal(
      runs.map(({ error, reward }) => error ?? reward),
      [1, 1, 1, 1],
    )
    check.match(String(runs[0]?.answer), '(exit 0)')
    const half = await runTaskset(rows.slice(0, 1), 'Repairer', {
      settings: { repairs: repairs.slice(0, 2) },
      runtime: { each: serveOursArgv(calc) },
    })
    check.equal([half.reward, half.runs[0]?.isError], [0, false])
    check.match(String(half.runs[0]?.answer), '(exit 1)')
    rolledOut(5)
  },
  { deadlineMs: 180_000 },
)

test('HUD’s agent for chat completions works with its tools in our workspace', async () => {
  const calls = [
    { name: 'bash', arguments: { command: 'cat note.txt; echo no >&2; exit 3' } },
    { name: 'write', arguments: { filePath: 'sub dir/new.txt', content: 'one\ntwo\n' } },
    { name: 'edit', arguments: { filePath: 'sub dir/new.txt', oldString: 'two', newString: 'ibex' } },
    { name: 'read', arguments: { filePath: 'sub dir/new.txt' } },
    { name: 'grep', arguments: { pattern: 'ibex', path: '.' } },
    { name: 'glob', arguments: { pattern: '*.txt', path: '.' } },
  ]
  const model = await startFakeChatServer([...calls.map(call => ({ calls: [call] })), { text: 'ibex' }])
  try {
    const row = { env: 'desk', id: 'find', args: { word: 'ibex' } }
    const { runs } = await runTaskset([row], 'Model', { settings: { url: model.url } })
    check.equal([runs[0]?.error, runs[0]?.reward, runs[0]?.stopReason], [null, 1, 'done'])
    const results = (model.requests.at(-1)?.messages ?? []).flatMap(each =>
      each.role === 'tool' ? [each.content] : [],
    )
    check.is(results.length, calls.length)
    const [cat, , , read, grep, glob] = results
    check.match(String(cat), /ibex\n\nstderr:\nno\n\n\(exit 3\)/)
    check.match(String(read), 'ibex')
    check.match(String(grep), /new\.txt:2:ibex/)
    check.match(String(glob), 'new.txt')
  } finally {
    await model.close()
  }
  rolledOut(1)
})

test('one that is shared by rollouts, some at a time, serves them all', async () => {
  const rows = Array.from({ length: 6 }, (_, index) => add(index, 1))
  const { reward, runs } = await runTaskset(rows, 'Adder', { runtime: { each: serveOursArgv(desk), width: 2 } })
  check.equal([reward, runs.length], [1, 6])
  rolledOut(6)
})

test('tasks run one by one add up in a job', async () => {
  const asked = { row: add(20, 22), agent: 'Adder', runtime: { url: served.url }, group: 3 }
  const { runs, jobs } = await hud.ask(z.object({ runs: z.array(run), jobs: z.array(z.boolean()) }), 'run_task', asked)
  check.equal(
    runs.map(({ reward }) => reward),
    [1, 1, 1, 1, 1, 1],
  )
  check.equal(jobs, [true])
  check.is(new Set(runs.map(({ groupId }) => groupId)).size, 2)
  rolledOut(6)
})

test('chat prompts reach the agent turn by turn, and a conversation goes on over rollouts', async () => {
  const row = { env: 'desk', id: 'talk' }
  const { runs } = await runTaskset([row], 'Echo')
  check.is(
    runs[0]?.answer,
    'user: You are brief. | user: Hello. | assistant: Hello. What is it? | user: What | user: now?',
  )
  const asked = { row, runtime: { url: served.url }, messages: ['Good day.', 'And now?'] }
  const [, second] = await hud.ask(z.array(z.string()), 'run_chat', asked)
  check.is(second, 'user: Good day. | assistant: user: Good day. | user: And now?')
  rolledOut(3)
})

test('subscores arrive as they are weighed', async () => {
  const [weighed] = (await runTaskset([{ env: 'desk', id: 'weighed' }], 'Adder')).runs
  check.equal([weighed?.reward, weighed?.content], [0.75, 'weighed'])
  check.equal(weighed?.evaluation.subscores, [
    { name: 'given', weight: 0.75, value: 1, children: null },
    { name: 'long', weight: 0.25, value: 0, children: null },
  ])
  rolledOut(1)
})

test('a verifier grades what the actor left in the same session, and its grade is the one of record', async () => {
  const verifier = { env: 'desk', id: 'check' }
  const rows = ['ibex', 'emu'].map(word => ({ env: 'desk', id: 'find', args: { word }, slug: word, verifier }))
  const { runs } = await runTaskset(rows, 'Reader')
  check.equal(
    runs.map(({ reward, content }) => [reward, content]),
    [
      [0.875, 'ibex'],
      [0, 'emu'],
    ],
  )
  check.equal(runs[0]?.phases, ['setup', 'evaluate', 'setup', 'evaluate'])
  rolledOut(2)
})

test('one bad rollout costs the others nothing: an agent, a template and a task that fail, and one that never ends', async () => {
  const fail = (when: string) => ({ env: 'desk', id: 'fail', args: { when }, slug: `fail-${when}` })
  const { runs, errors } = await runTaskset(
    [fail('start'), fail('grade'), { env: 'desk', id: 'none' }, add(1, 1)],
    'Adder',
  )
  check.is(errors, 3)
  const [start, grade, none, good] = runs
  check.match(String(start?.error), /there is no paper/)
  check.match(String(grade?.error), /the ink is dry/)
  check.match(String(none?.error), /-32602/)
  check.equal([good?.reward, good?.isError], [1, false])
  const thrown = await runTaskset([add(1, 1)], 'Thrower')
  check.match(String(thrown.runs[0]?.error), /out of its depth/)
  // It left no answer, and is graded on that.
  check.equal([thrown.runs[0]?.isError, thrown.runs[0]?.reward], [false, 0])
  const late = await runTaskset([add(1, 1)], 'Waiter', { limit: 0.5 })
  check.equal([late.runs[0]?.stopReason, late.runs[0]?.isError], ['timeout', true])
  const stuck = await runTaskset([{ env: 'desk', id: 'wait', args: { when: 'start' } }], 'Adder', { limit: 0.5 })
  check.equal([stuck.runs[0]?.stopReason, stuck.runs[0]?.status], ['timeout', 'error'])
  check.is((await runTaskset([add(2, 2)], 'Adder')).reward, 1)
  rolledOut(8)
})

test.run()

/** HUD's own client of the control channel at an environment that `troupe serve` serves. */
import { execa } from 'execa'
import { z } from 'zod'
import { makeBenchDirectory } from '../../bench/directory.ts'
import { directionSuite } from './support/direction.ts'
import { type Hud, type HudClient, needHud, openHud } from './support/hud.ts'
import { hudArgv, hudVariables, type Served, serveOursArgv, sourceOf, startServed } from './support/places.ts'

const { test, check } = directionSuite("HUD's client -> our environments", "HUD's client at our environments")

let hud: Hud
let served: Served

test.before(async () => {
  hud = await openHud()
  served = await startServed(serveOursArgv(sourceOf('environments/desk.ts')))
})

test.after(async () => {
  await served?.process.stop()
  await hud?.end()
})

async function withClients(body: (connect: () => Promise<HudClient>) => Promise<void>): Promise<void> {
  const clients: HudClient[] = []
  try {
    await body(async () => {
      const client = await hud.connect(served.url)
      clients.push(client)
      return client
    })
  } finally {
    await Promise.all(clients.map(client => client.close()))
  }
}

/** With one connection. */
const withClient = (body: (client: HudClient) => Promise<void>) => withClients(async connect => body(await connect()))

test('the welcome says which environment it is, and offers a shell', () =>
  withClient(async client => {
    check.match(client.welcome.sessionId, /^sess-[0-9a-f]{8}$/)
    check.equal(client.welcome.env, ['desk', '2.1.0'])
    const shell = client.welcome.bindings.find(({ protocol }) => protocol === 'ssh/2')
    check.is(shell?.name, 'shell')
    check.is(shell?.params.user, 'agent')
    check.is(shell?.params.isolation, 'bwrap')
    check.is(shell?.params.cwd, '/workspace')
  }))

const manifest = z.array(
  z.object({
    id: z.string(),
    description: z.string(),
    args: z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }),
    returns: z.looseObject({ type: z.string() }).optional(),
  }),
)

test('tasks are listed with the schemas of their arguments and of what they return', () =>
  withClient(async client => {
    const tasks = manifest.parse(await client.call('list_tasks'))
    check.equal(
      tasks.slice(0, 3).map(({ id }) => id),
      ['add', 'find', 'sum'],
    )
    const [add, , sum] = tasks
    check.is(add?.description, 'Add two whole numbers.')
    check.equal(Object.keys(add?.args.properties ?? {}), ['a', 'b'])
    check.is(sum?.returns?.type, 'object')
    check.is(add?.returns, undefined)
  }))

test('a task is started and graded, once', () =>
  withClient(async client => {
    check.equal(await client.call('start_task', 'add', { a: 40, b: 2 }), { prompt: 'What is 40 + 2?' })
    check.equal(await client.call('grade', { answer: 'It is 42.' }), { score: 1 })
    const again = await client.refused('grade', { answer: '42' })
    check.is(again.code, -32600)
    check.is(again.message, 'no task in progress')
  }))

test('a second start in a session replaces the first', () =>
  withClient(async client => {
    await client.call('start_task', 'add', { a: 1, b: 1 })
    await client.call('start_task', 'add', { a: 2, b: 3 })
    check.equal(await client.call('grade', { answer: '5' }), { score: 1 })
  }))

test('an answer is read by what the template returns; one that does not fit is graded raw', () =>
  withClient(async client => {
    for (const [answer, score, content] of [
      ['{"parts": [1, 2, 3], "sum": 6}', 1, '{"parts": [1, 2, 3], "sum": 6}'],
      ['{"parts": [1, 2, 3], "sum": 7}', 0.5, '{"parts": [1, 2, 3], "sum": 7}'],
      ['six', 0, 'not as asked: six'],
      [{ parts: [6], sum: 6 }, 1, '{"parts":[6],"sum":6}'],
    ] as const) {
      await client.call('start_task', 'sum', { parts: [1, 2, 3] })
      check.equal(await client.call('grade', { answer }), { score, content })
    }
  }))

test('chat messages, and what stands beside a prompt and a score, arrive as they were yielded', () =>
  withClient(async client => {
    const talk = z
      .object({ prompt: z.array(z.unknown()), tone: z.string() })
      .parse(await client.call('start_task', 'talk'))
    check.equal(talk.prompt[0], { role: 'system', content: 'You are brief.' })
    check.is(talk.prompt.length, 4)
    check.is(talk.tone, 'dry')
    await client.call('start_task', 'weighed')
    const grade = await client.call('grade', { answer: 'short' })
    check.equal(grade, {
      score: 0.75,
      content: 'weighed',
      info: { length: 5 },
      subscores: [
        { name: 'given', value: 1, weight: 0.75 },
        { name: 'long', value: 0, weight: 0.25 },
      ],
    })
  }))

test('an exception in a template is an error with its text, and the session goes on', () =>
  withClient(async client => {
    const start = await client.refused('start_task', 'fail', { when: 'start' })
    check.is(start.code, -32000)
    check.match(start.message, 'there is no paper')
    await client.call('start_task', 'fail', { when: 'grade' })
    const grade = await client.refused('grade', { answer: '' })
    check.is(grade.code, -32000)
    check.match(grade.message, 'the ink is dry')
    await client.call('start_task', 'unscored')
    check.equal(await client.call('grade', { answer: '' }), {
      score: 0,
      info: { reason: 'the template ended without a score' },
    })
  }))

test('an unknown task, arguments that do not fit and an unknown method are refused by their codes', () =>
  withClient(async client => {
    const unknown = await client.refused('start_task', 'subtract', {})
    check.is(unknown.code, -32602)
    check.match(unknown.message, 'subtract')
    for (const args of [{ a: 1 }, { a: 1, b: 'two' }, { a: 1, b: 2, c: 3 }])
      check.is((await client.refused('start_task', 'add', args)).code, -32602, JSON.stringify(args))
    check.is((await client.refused('_call', 'tasks.shuffle', {})).code, -32601)
    check.equal(await client.call('start_task', 'add', { a: 1, b: 2 }), { prompt: 'What is 1 + 2?' })
    check.equal(await client.call('grade', { answer: '3' }), { score: 1 })
  }))

test('frames far beyond 64 KiB pass in both directions', () =>
  withClient(async client => {
    for (const bytes of [65_000, 66_000, 1_000_000]) {
      const { prompt } = z.object({ prompt: z.string() }).parse(await client.call('start_task', 'long', { bytes }))
      check.is(prompt.length, bytes)
      const grade = z.object({ score: z.number(), content: z.string() })
      const { score, content } = grade.parse(await client.call('grade', { answer: 'z'.repeat(bytes) }))
      check.equal([score, content.length], [1, bytes])
    }
  }))

test('a dropped connection parks its task, which another one resumes by its id', () =>
  withClients(async connect => {
    const [first, second] = [await connect(), await connect()]
    await first.call('start_task', 'add', { a: 3, b: 4 })
    const { sessionId } = first.welcome
    check.equal(await second.resume(sessionId), refusal(`session '${sessionId}' has a live connection`))
    await first.close()
    const resumed = await untilParked(() => second.resume(sessionId))
    check.is('sessionId' in resumed && resumed.sessionId, sessionId)
    check.equal(await second.call('grade', { answer: '7' }), { score: 1 })
    check.equal(await second.resume('sess-00000000'), refusal("unknown session: 'sess-00000000'"))
  }))

test('a grade from a fresh connection takes the one task that is parked, and names them where there are several', () =>
  withClients(async connect => {
    const [one, two, grader, other] = [await connect(), await connect(), await connect(), await connect()]
    check.is((await grader.refused('grade', { answer: '' })).message, 'no task in progress')
    await one.call('start_task', 'add', { a: 1, b: 1 })
    await two.call('start_task', 'add', { a: 2, b: 2 })
    await one.close()
    await two.close()
    const several = await untilParked(async () => {
      const refused = await grader.refused('grade', { answer: '2' })
      return refused.message.startsWith('2 parked') ? refused : refusal('one still has a live connection')
    })
    const ids = [one, two].map(({ welcome }) => welcome.sessionId).sort()
    check.equal(
      several,
      refusal(`2 parked sessions (${ids.join(', ')}); resume one by sending hello with its session_id`),
    )
    await other.resume(one.welcome.sessionId)
    check.equal(await other.call('grade', { answer: '2' }), { score: 1 })
    check.equal(await grader.call('grade', { answer: '4' }), { score: 1 })
  }))

test('a cancel ends the task, one that is being started too', () =>
  withClient(async client => {
    await client.call('start_task', 'add', { a: 1, b: 1 })
    await client.call('cancel')
    check.is((await client.refused('grade', { answer: '2' })).message, 'no task in progress')
    await client.call('start_task', 'wait', { when: 'grade' })
    // The SDK's way out of a call that does not end.
    const [graded] = await Promise.all([client.refused('grade', { answer: '' }), client.call('_abandon_task')])
    check.match(graded.message, /interrupted|closed/)
  }))

test('a goodbye ends the session, and leaves nothing to resume', () =>
  withClients(async connect => {
    const [client, other] = [await connect(), await connect()]
    await client.call('start_task', 'add', { a: 1, b: 1 })
    check.equal(await client.bye(), { goodbye: true })
    const { sessionId } = client.welcome
    check.equal(await other.resume(sessionId), refusal(`unknown session: '${sessionId}'`))
  }))

const beats = z.object({
  session: z.string(),
  answered: z.array(z.string()),
  beats: z.number(),
  prompt: z.string(),
  score: z.number(),
})

test('heartbeats are answered with the session that they name, in the midst of a task', async () => {
  const beaten = await hud.ask(beats, 'client_beats', { url: served.url, beats: 20 })
  check.ok(beaten.beats >= 20)
  check.equal(beaten.answered, [beaten.session])
  check.equal([beaten.prompt, beaten.score], ['What is 1 + 2?', 1])
})

test('what it cannot give is refused and not left out: routes and connections of a workspace', () =>
  withClient(async client => {
    const route = { capability: 'ssh', host: 'example.org', port: 443 }
    const refused = await client.refused('_call', 'hello', { workspace_routes: [route] })
    check.is(refused.code, -32000)
    check.match(refused.message, 'workspace_routes')
    check.is((await client.refused('_call', 'hello', { connections: [{ name: 'x' }] })).code, -32000)
    check.ok(await client.call('_call', 'hello', { workspace_routes: [], connections: [] }))
  }))

function refusal(message: string): Reply {
  return { kind: 'HudProtocolError', code: -32600, message }
}

test(
  'a task that `hud task start` began is graded by `hud task grade`, each a process of its own',
  async () => {
    const { directory, remove } = await makeBenchDirectory()
    try {
      const [program, ...task] = hudArgv(await needHud(), 'task')
      const hudTask = async (...given: string[]) => {
        const options = {
          cwd: directory,
          env: { ...hudVariables(directory), PATH: process.env.PATH ?? '' },
          extendEnv: false,
        }
        return (await execa(program, [...task, ...given, '--url', served.url], options)).stdout
      }
      check.is(await hudTask('start', 'add', '--args', '{"a": 19, "b": 23}'), 'What is 19 + 23?')
      check.is(await hudTask('grade', 'add', '--answer', '42'), '1')
      // Nothing is parked any more: it starts the task itself.
      const grade = JSON.parse(await hudTask('grade', 'weighed', '--answer', 'short', '--json'))
      check.is(z.object({ score: z.number() }).parse(grade).score, 0.75)
    } finally {
      remove()
    }
  },
  { deadlineMs: 120_000 },
)

type Reply = Awaited<ReturnType<HudClient['resume']>>

/** A hang-up reaches the server when it does: until then the session has a live connection. */
async function untilParked(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await ask()
    if (!('message' in reply) || !reply.message.includes('has a live connection')) return reply
    await new Promise(resolve => setImmediate(resolve))
  }
}

test.run()

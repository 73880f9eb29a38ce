import type { Duplex } from 'node:stream'
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { ServerConnection } from '../../src/environment/server-connection.ts'
import { SessionTable } from '../../src/environment/sessions.ts'
import { makeStreamPair } from '../../src/environment/workspace/stream-pair.ts'
import { randomIds } from '../../src/ids.ts'
import { METHOD } from '../../src/wire/extension.ts'
import { isObject, type JsonObject } from '../../src/wire/json-rpc.ts'
import { suite } from '../support/suite.ts'
import { type FixtureEnvironment, makeFixture } from '../wire/support/fixture-environment.ts'
import { cuts, deadlineOf, fuzz, hostileJson, pieces, prototypeKeys, report } from './executions.ts'

const test = suite('fuzz: control channel server')
const before = prototypeKeys()
const TOKEN = 'the-token-of-the-fuzzer'
let environment: FixtureEnvironment
const problems: unknown[] = []

test.before(async () => {
  environment = await makeFixture()
  environment.startGate.open()
  environment.gradeGate.open()
})
test.after(async () => {
  await environment.close()
  report()
})

const params = fc.oneof(
  hostileJson,
  fc.record(
    {
      id: fc.oneof(fc.constantFrom('echo', 'slow', 'throws', 'grade-throws', 'big'), hostileJson),
      args: fc.oneof(fc.record({ value: fc.jsonValue(), size: fc.nat(9_000) }, { requiredKeys: [] }), hostileJson),
      session_id: fc.oneof(fc.constant('sess-00000000'), hostileJson),
      capability: fc.oneof(fc.constantFrom('echo', 'broken'), hostileJson),
      answer: hostileJson,
      troupe: fc.oneof(
        fc.record({
          version: fc.constant(1),
          multiplex: fc.boolean(),
          ephemeral: fc.boolean(),
          token: fc.constant(TOKEN),
        }),
        hostileJson,
      ),
    },
    { requiredKeys: [] },
  ),
)
const request = fc.record(
  {
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.nat(), fc.string(), hostileJson),
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...Object.values(METHOD)) },
      { weight: 1, arbitrary: hostileJson },
    ),
    params,
    ch: fc.oneof({ weight: 4, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: hostileJson }),
  },
  { requiredKeys: ['method'] },
)
const deep = (open: string, close: string) =>
  `{"id":1,"method":"tasks.start","params":{"id":"echo","args":{"value":${open.repeat(500)}1${close.repeat(500)}}}}\n`
const item = fc.oneof(
  { weight: 20, arbitrary: request.map(value => `${JSON.stringify(value)}\n`) },
  { weight: 1, arbitrary: fc.string().map(text => `${text}\n`) },
  { weight: 1, arbitrary: fc.constantFrom(deep('[', ']'), deep('{"a":', '}'), `{"pad":"${'x'.repeat(5_000)}"}\n`) },
)
const conversation = fc.array(item, { maxLength: 14 }).map(lines => Buffer.from(lines.join('')))

/** Sends it all, then a ping, and hangs up once that is answered or the server has; resolves with what came back. */
async function talk(client: Duplex, sent: readonly Buffer[]): Promise<string> {
  let text = ''
  const ended = new Promise<void>(resolve => client.once('close', resolve).once('end', resolve))
  const answered = new Promise<void>(resolve => {
    client.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
      if (text.includes('"id":"the last"')) resolve()
    })
  })
  client.on('error', () => {})
  for (const piece of sent) client.write(piece)
  client.write(`{"id":"the last","method":"${METHOD.ping}"}\n`)
  client.end()
  await Promise.race([answered, ended])
  await ended
  return text
}

/** The answer to an opened stream; or the ping itself, which the daemon behind one that was opened without an id sends back. */
function isStream(text: string): boolean {
  return text.includes('"result":{"capability":') || text.includes(`"method":"${METHOD.ping}"`)
}

function checkReplies(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const reply: unknown = JSON.parse(line)
      assert.ok(isObject(reply) && reply.jsonrpc === '2.0', line)
      assert.ok('result' in reply || isObject(reply.error) || typeof reply.method === 'string', line)
      if (isObject(reply.error))
        assert.ok(Number.isInteger(reply.error.code) && typeof reply.error.message === 'string')
      return reply
    })
}

for (const token of [undefined, TOKEN])
  test(
    `whatever is said ${token === undefined ? '' : 'before and after the token '}is answered or ends the connection, and no session is left`,
    () =>
      fuzz(
        `control server${token === undefined ? '' : ' with a token'}`,
        400,
        [conversation, cuts],
        async (bytes, places) => {
          const sessions = new SessionTable({
            environment,
            clock: systemClock,
            ids: randomIds,
            maxSessions: 4,
            closeMs: 1_000,
            onError: error => problems.push(error),
          })
          const ports = { environment, sessions, clock: systemClock, maxFrameBytes: 4_096, foreignFrameBytes: 2_048 }
          const [client, server] = makeStreamPair()
          new ServerConnection(server, ports, token === undefined ? undefined : shown => shown === token)
          const text = await talk(client, pieces(bytes, places))
          // What a stream to a capability carries is the daemon's own.
          if (!isStream(text)) checkReplies(text)
          await sessions.close()
          assert.is(sessions.size, 0)
          assert.equal(problems, [])
          assert.is(prototypeKeys(), before)
        },
      ),
    deadlineOf(400),
  )

test(
  'without the token nothing but the one refusal comes back, and the environment hears of nothing',
  () =>
    fuzz('control server, no token', 400, [conversation, cuts], async (bytes, places) => {
      const events = environment.events.length
      const sessions = new SessionTable({
        environment,
        clock: systemClock,
        ids: randomIds,
        maxSessions: 4,
        closeMs: 1_000,
        onError: error => problems.push(error),
      })
      const ports = { environment, sessions, clock: systemClock, maxFrameBytes: 4_096, foreignFrameBytes: 2_048 }
      const [client, server] = makeStreamPair()
      new ServerConnection(server, ports, () => false)
      const replies = checkReplies(await talk(client, pieces(bytes, places)))
      assert.is(replies.length, 1)
      assert.match(JSON.stringify(replies[0]), 'this server wants a token')
      assert.is(environment.events.length, events)
    }),
  deadlineOf(400),
)

test.run()

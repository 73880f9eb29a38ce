/** Model endpoints that are busy, broken, silent, cut off in an answer, or nowhere. */
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import {
  type FakeChatServer,
  type FakeRequest,
  type FakeStep,
  startFakeChatServer,
} from '../support/fake-chat-server.ts'
import { suite } from '../support/suite.ts'
import { allGraded, surviveWith } from './harness/all-graded.ts'
import { withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of models')

const MEMBERS = 2
const GROUPS = 2
const RUNS = GROUPS * MEMBERS
/** What a run that had no model ends with: no reward, whatever the grader would have made of its silence. */
const NO_MODEL = { stops: ['model-lost'], tags: ['chat-unavailable', 'endpoint-down', 'bad-chat-reply'] } as const

/** A model that can do the task. */
function says({ messages }: FakeRequest): FakeStep {
  const [prompt] = messages.filter(({ role }) => role === 'user')
  return { text: /\d+/.exec(String(prompt?.content))?.[0] ?? '' }
}

const busy: FakeStep = { status: 429, headers: { 'retry-after': '0' } }
const PASSING: readonly [FakeStep, ...FakeStep[]] = [
  busy,
  { status: 500 },
  { status: 502, body: '<html>bad gateway</html>' },
  { status: 503 },
  { drop: true },
  { partly: '{"choices": [{"mess', end: 'cut' },
]

async function withModel<Value>(
  script: FakeChatServer['script'],
  body: (server: FakeChatServer) => Promise<Value>,
): Promise<Value> {
  const server = await startFakeChatServer(script)
  try {
    return await body(server)
  } finally {
    await server.close()
  }
}

const job = (inferenceUrl: string, seed: number, agentMs: number) => ({
  groups: GROUPS,
  members: MEMBERS,
  seed,
  agent: createAgent('org/tiny', { endpoint: { inferenceUrl } }),
  options: { deadlines: { agent: agentMs } },
})

faultTest(
  test,
  'a model that is busy or broken for a while is asked again, and every rollout is graded',
  { seeds: 6 },
  draw =>
    withFaultScene([], scene => {
      const requests = draw.moments(draw.whole(1, 3), RUNS)
      const faults = new Map(requests.map(request => [request, draw.one(PASSING)]))
      return withModel(
        (request, index) => faults.get(index + 1) ?? says(request),
        async server => {
          const { groups } = await allGraded(scene, job(server.url, draw.seed, 60_000))
          assert.ok(groups.every(({ runs }) => runs.every(({ attempt }) => attempt === 1)))
          assert.is(server.requests.length, RUNS + faults.size)
          return faults.size
        },
      )
    }),
)

for (const [title, step] of [
  ['is busy and asks to come back in an hour', { status: 429, headers: { 'retry-after': '3600' } }],
  ['fails whatever it is asked', { status: 500 }],
  ['refuses every connection half way', { drop: true }],
  ['never answers', { partly: '', end: 'silence' }],
  ['stops in the middle of its answer', { partly: '{"choices": [{"message": {"cont', end: 'silence' }],
  ['answers with half a JSON', { status: 200, body: '{"choices": [{"message": {"cont' }],
] as const satisfies readonly (readonly [string, FakeStep])[])
  faultTest(
    test,
    `a model that ${title} costs the runs that met it their reward, and gives no zero`,
    { seeds: 1 },
    draw =>
      withFaultScene([], scene => {
        const unlucky = draw.whole(0, GROUPS - 1)
        const isUnlucky = ({ messages }: FakeRequest) => JSON.stringify(messages).includes(`say ${unlucky}`)
        return withModel(
          request => (isUnlucky(request) ? step : says(request)),
          async server => {
            const { balance } = await surviveWith(scene, job(server.url, draw.seed, 2_000), NO_MODEL)
            assert.equal(balance, { graded: RUNS - MEMBERS, failed: MEMBERS, pending: 0 })
            return MEMBERS
          },
        )
      }),
  )

faultTest(
  test,
  'a model whose name nobody knows costs every run its reward, and the error names the host',
  { seeds: 1 },
  draw =>
    withFaultScene([], async scene => {
      const { balance, outcome } = await surviveWith(scene, job('http://model.invalid/v1', draw.seed, 3_000), NO_MODEL)
      assert.is(balance.failed, RUNS)
      const [error] = outcome.groups.flatMap(({ runs }) => runs.flatMap(run => run.error ?? []))
      assert.match(error?.message ?? '', /model\.invalid/)
      return RUNS
    }),
)

runFaults(test)

import * as assert from 'uvu/assert'
import type { Agent } from '../../src/agents/agent.ts'
import { type ErrorData, TroupeError } from '../../src/errors.ts'
import { toLeaseId, toSandboxId } from '../../src/ids.ts'
import { withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { type RolloutEnd, rollout } from '../../src/rollout/rollout.ts'
import { type FakePeer, fakeClient, noLease } from '../support/fake-session.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('rollout')

const task = { env: 'fake', id: 'do', args: {}, slug: 'do' }
const answers = (answer: unknown): Agent => ({ name: 'answers', run: async () => ({ answer, stop: 'done' }) })
const never = () => new Promise<never>(() => {})
const remoteError = () => {
  throw new TroupeError({ tag: 'remote-error', message: 'the template threw', details: { code: -32000 } })
}
const sessionLost = () => {
  throw new TroupeError({ tag: 'session-lost', message: 'cut' })
}

interface Scene {
  readonly peer?: FakePeer
  readonly agent?: Agent
  readonly lease?: () => Promise<never>
  readonly clock?: VirtualClock
  readonly cancel?: AbortSignal
  readonly whyLost?: () => Promise<ErrorData | undefined>
}

async function attempt(
  scene: Scene,
): Promise<{ end: RolloutEnd; released: boolean[]; open: number; asked: () => number }> {
  const client = fakeClient(scene.peer ?? {})
  const released: boolean[] = []
  let asked = 0
  const clock = scene.clock ?? new VirtualClock()
  const end = await rollout(
    { task, seed: 7, deadlines: withDefaultDeadlines(), cancel: scene.cancel ?? new AbortController().signal },
    {
      clock,
      client,
      agent: scene.agent ?? answers('42'),
      lease:
        scene.lease ??
        (async () => ({
          leaseId: toLeaseId('l'),
          sandboxId: toSandboxId('s'),
          address: { kind: 'unix', path: '/nowhere' },
          sessionId: undefined,
          kind: 'hit',
        })),
      whyLost: async () => {
        assert.equal(released, [], 'asked before the lease is given back')
        asked += 1
        return scene.whyLost?.()
      },
      release: ended => void released.push(ended),
      verifier: noLease,
      openShell: () => Promise.reject(new Error('no shell here')),
    },
  )
  return { end, released, open: client.open(), asked: () => asked }
}

test('a graded rollout has its reward, its phases timed, and its sandbox given back with the goodbye seen', async () => {
  const { end, released, open } = await attempt({
    peer: { grade: async answer => ({ score: answer === '42' ? 0.5 : 0 }) },
  })
  assert.is(end.outcome, 'graded')
  assert.is(end.reward, 0.5)
  assert.is(end.stopReason, 'done')
  assert.equal(Object.keys(end.timings), ['provisioning', 'connecting', 'starting', 'agent', 'grading', 'cleanup'])
  assert.equal([released, open], [[true], 0])
})

test('infrastructure that fails is never a reward of zero, and says whether another try makes sense', async () => {
  const refused = await attempt({
    lease: () => Promise.reject(new TroupeError({ tag: 'quota', message: 'no quota', transient: false })),
  })
  assert.equal([refused.end.outcome, refused.end.reward, refused.end.retryable], ['infrastructure-error', null, false])
  assert.is(refused.end.stopReason, 'provision-failed')
  for (const peer of [{ connect: sessionLost }, { start: sessionLost }, { grade: sessionLost }] as const) {
    const { end } = await attempt({ peer: peer as FakePeer })
    assert.equal([end.outcome, end.reward, end.retryable], ['infrastructure-error', null, true])
    assert.is(end.stopReason, 'sandbox-lost')
  }
})

test('a lost sandbox is asked after, and what is known of its end is told and kept as the cause', async () => {
  const why: ErrorData = { tag: 'out-of-memory', message: 'killed at 1 GiB' }
  const { end, asked } = await attempt({ peer: { start: sessionLost }, whyLost: async () => why })
  assert.is(asked(), 1)
  assert.is(end.error?.message, 'cut; its sandbox: killed at 1 GiB')
  assert.is(end.error?.tag, 'session-lost')
  assert.equal(end.error?.cause, why)
})

test('an explanation that nobody has, or that never comes, changes nothing', async () => {
  for (const whyLost of [async () => undefined, () => Promise.reject(new Error('no answer'))]) {
    const { end } = await attempt({ peer: { start: sessionLost }, whyLost })
    assert.equal([end.stopReason, end.error?.message, end.error?.cause], ['sandbox-lost', 'cut', undefined])
  }
})

test('nobody is asked about the sandbox of a rollout that ends in any other way', async () => {
  const noModel = async () => {
    throw new TroupeError({ tag: 'endpoint-down', message: 'no model', transient: true })
  }
  const healthy = await attempt({})
  const remote = await attempt({ peer: { start: remoteError } })
  const model = await attempt({ agent: { name: 'lost', run: noModel } })
  const refused = await attempt({ lease: () => Promise.reject(new TroupeError({ tag: 'quota', message: 'no quota' })) })
  assert.equal(
    [healthy, remote, model, refused].map(({ asked }) => asked()),
    [0, 0, 0, 0],
  )
})

test("a template or grader that throws is the environment's error, without a reward", async () => {
  const start = await attempt({ peer: { start: remoteError } })
  assert.equal([start.end.outcome, start.end.failedPhase, start.end.reward], ['environment-error', 'starting', null])
  const grade = await attempt({ peer: { grade: remoteError } })
  assert.equal([grade.end.outcome, grade.end.failedPhase, grade.end.reward], ['environment-error', 'grading', null])
  const own = await attempt({
    peer: { grade: async () => ({ score: 0, isError: true, content: 'pytest is missing' }) },
  })
  assert.equal([own.end.outcome, own.end.reward, own.end.error?.tag], ['environment-error', null, 'grade-error'])
})

test('an agent that throws is graded on what it left', async () => {
  const agent: Agent = { name: 'throws', run: () => Promise.reject(new Error('confused')) }
  const { end } = await attempt({ agent, peer: { grade: async () => ({ score: 1 }) } })
  assert.equal([end.outcome, end.stopReason, end.reward], ['agent-error', 'agent-threw', 1])
})

test('a model that cannot be asked is infrastructure, whose run has no reward and is tried again only where that may help', async () => {
  for (const [tag, transient] of [
    ['endpoint-down', true],
    ['chat-unavailable', true],
    ['unknown-model', false],
    ['no-token-ids', false],
  ] as const) {
    const error = new TroupeError({ tag, message: 'no model', ...(transient ? { transient } : {}) })
    const { end } = await attempt({ agent: { name: 'chat', run: () => Promise.reject(error) } })
    assert.equal(
      [end.outcome, end.stopReason, end.failedPhase, end.reward, end.retryable],
      ['infrastructure-error', 'model-lost', 'agent', null, transient],
    )
  }
})

test('an agent past its deadline is told, cut, and graded on what it left', async () => {
  const clock = new VirtualClock()
  let told: AbortSignal | undefined
  const agent: Agent = {
    name: 'slow',
    run: context => {
      told = context.signal
      return never()
    },
  }
  const running = attempt({ agent, clock, peer: { grade: async () => ({ score: 0 }) } })
  await clock.advance(withDefaultDeadlines().agent)
  const { end } = await running
  assert.equal([end.outcome, end.stopReason, end.reward, told?.aborted], ['agent-error', 'deadline', 0, true])
})

test('an agent cut at its deadline while it had no model is not graded, and one that says anything else is', async () => {
  for (const [tag, outcome, stopReason, reward] of [
    ['chat-unavailable', 'infrastructure-error', 'model-lost', null],
    ['other', 'agent-error', 'deadline', 0],
  ] as const) {
    const clock = new VirtualClock()
    const run: Agent['run'] = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new TroupeError({ tag, message: 'nothing came' })))
      })
    const running = attempt({ agent: { name: 'waits', run }, clock, peer: { grade: async () => ({ score: 0 }) } })
    await clock.advance(withDefaultDeadlines().agent)
    const { end } = await running
    assert.equal([end.outcome, end.stopReason, end.reward, end.retryable], [outcome, stopReason, reward, false])
  }
})

test('a wall clock that is set back meanwhile makes no rollout end before it began', async () => {
  const clock = new VirtualClock()
  const times = [1_700_000_000_000, 1_600_000_000_000]
  clock.wallTime = () => times.shift() ?? 0
  const { end } = await attempt({ clock })
  assert.equal([end.startedAt, end.endedAt], [1_700_000_000_000, 1_700_000_000_000])
})

test('a peer that never answers costs its deadline, not the run', async () => {
  for (const [phase, peer] of [
    ['connecting', { connect: never }],
    ['starting', { start: never }],
    ['grading', { grade: never }],
  ] as const) {
    const clock = new VirtualClock()
    const running = attempt({ peer, clock })
    await clock.advance(withDefaultDeadlines()[phase])
    const { end, released } = await running
    assert.equal([end.failedPhase, end.reward, released.length], [phase, null, 1])
  }
})

test("a cancel ends the phase at once, gives the sandbox back and is nobody's failure", async () => {
  const controller = new AbortController()
  const running = attempt({ agent: { name: 'waits', run: never }, cancel: controller.signal })
  await new Promise(resolve => setImmediate(resolve))
  controller.abort()
  const { end, released, open } = await running
  assert.equal([end.outcome, end.reward, end.retryable], ['cancelled', null, false])
  assert.equal([released, open], [[true], 0])
})

test('a goodbye that does not come is not waited for, and the pool hears that nobody saw it', async () => {
  const clock = new VirtualClock()
  const running = attempt({ peer: { end: never }, clock })
  await clock.advance(withDefaultDeadlines().cleanup)
  const { end, released } = await running
  assert.equal([end.outcome, end.reward, released], ['graded', 1, [false]])
})

test.run()

import * as assert from 'uvu/assert'
import type { Agent } from '../../src/agents/agent.ts'
import { type ErrorData, TroupeError } from '../../src/errors.ts'
import { toLeaseId, toSandboxId } from '../../src/ids.ts'
import { withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { type RolloutEnd, rollout } from '../../src/rollout/rollout.ts'
import type { LeasePorts } from '../../src/rollout/stay.ts'
import type { Task } from '../../src/taskset/task.ts'
import { type FakePeer, fakeClient } from '../support/fake-session.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('rollout: verifiers')

const actor: Task = { env: 'fake', id: 'do', args: {}, slug: 'do' }
const beside: Task = { ...actor, verifier: { env: 'fake', id: 'verify', args: {}, slug: 'verify' } }
const elsewhere: Task = { ...actor, verifier: { env: 'other', id: 'verify', args: {}, slug: 'verify' } }
const answers: Agent = { name: 'answers', run: async () => ({ answer: '42', stop: 'done' }) }
const never = () => new Promise<never>(() => {})
const fails = (tag: string, more: Partial<ErrorData> = {}) => {
  throw new TroupeError({ tag, message: `it is ${tag}`, ...more })
}

/** What an attempt did, in order. */
interface Played {
  readonly end: Promise<RolloutEnd>
  readonly events: string[]
  readonly clock: VirtualClock
  readonly die: (which: string, why?: Partial<ErrorData>) => void
  readonly open: () => number
}

function play(task: Task, peer: FakePeer = {}, more: Scene = {}): Played {
  const events: string[] = []
  const clock = new VirtualClock()
  const dying = new Map<string, (why: Partial<ErrorData>) => void>()
  const client = fakeClient({
    ...peer,
    async start(signal, id) {
      events.push(`start ${id}`)
      return peer.start?.(signal, id)
    },
    async grade(answer, signal) {
      events.push(`grade ${JSON.stringify(answer)}`)
      return (await peer.grade?.(answer, signal)) ?? { score: answer === '42' ? 0.25 : 0.75, note: 'seen' }
    },
  })
  const leases = (name: string): LeasePorts => ({
    async lease(deadlineMs, onLost) {
      events.push(`lease ${name}`)
      dying.set(name, why => onLost({ tag: 'sandbox-lost', message: 'its host was killed', transient: true, ...why }))
      await more.lease?.(name, deadlineMs)
      return {
        leaseId: toLeaseId(name),
        sandboxId: toSandboxId(name),
        address: { kind: 'unix', path: '/nowhere' },
        sessionId: undefined,
        kind: 'cold',
      }
    },
    whyLost: async () => undefined,
    release: ended => void events.push(`release ${name} ${ended}`),
  })
  const end = rollout(
    { task, seed: 7, deadlines: withDefaultDeadlines(), cancel: more.cancel ?? new AbortController().signal },
    {
      clock,
      client,
      agent: more.agent ?? answers,
      ...leases('actor'),
      verifier: leases('verifier'),
      openShell: () => Promise.reject(new Error('no shell here')),
    },
  )
  return { end, events, clock, die: (which, why = {}) => dying.get(which)?.(why), open: client.open }
}

interface Scene {
  readonly agent?: Agent
  readonly cancel?: AbortSignal
  readonly lease?: (name: string, deadlineMs: number) => Promise<void>
}

test('in the same session: the task is graded, then its verifier with that grade, which is the one of record', async () => {
  const { end, events, open } = play(beside)
  const { outcome, reward, trajectory, timings } = await end
  assert.equal([outcome, reward], ['graded', 0.75])
  assert.equal(trajectory.grade, { score: 0.75, note: 'seen' })
  assert.equal(trajectory.actorGrade, { score: 0.25, note: 'seen' })
  assert.equal(events, [
    'lease actor',
    'start do',
    'grade "42"',
    'start verify',
    'grade {"answer":"42","score":0.25,"note":"seen"}',
    'release actor true',
  ])
  assert.ok(timings.verifying !== undefined)
  assert.is(open(), 0)
})

test('elsewhere: the first sandbox is given back before the second is asked for, and both are in the end', async () => {
  const { end, events, open } = play(elsewhere)
  const { outcome, reward, lease } = await end
  assert.equal([outcome, reward, lease], ['graded', 0.75, 'cold'])
  assert.equal(events, [
    'lease actor',
    'start do',
    'grade "42"',
    'release actor true',
    'lease verifier',
    'start verify',
    'grade {"answer":"42","score":0.25,"note":"seen"}',
    'release verifier true',
  ])
  assert.is(open(), 0)
})

test('a verifier of the same environment with a runtime_config of its own is elsewhere, too', async () => {
  const own: Task = { ...beside, verifier: { env: 'fake', id: 'verify', args: {}, slug: 'v', runtime_config: {} } }
  const { end, events } = play(own)
  assert.is((await end).reward, 0.75)
  assert.ok(events.includes('lease verifier'))
})

test('a verifier that cannot be run leaves no reward, and its failure is told apart from the grade that the task had', async () => {
  const cases: readonly [Task, FakePeer, Scene, readonly unknown[]][] = [
    [
      beside,
      { start: async (_, id) => (id === 'verify' ? fails('remote-error') : 'do it') },
      {},
      ['environment-error', 'environment-threw', false],
    ],
    [
      beside,
      { grade: async answer => (answer === '42' ? { score: 1 } : fails('remote-error')) },
      {},
      ['environment-error', 'environment-threw', false],
    ],
    [
      beside,
      { grade: async answer => (answer === '42' ? { score: 1 } : { score: 0, isError: true, content: 'no tests' }) },
      {},
      ['environment-error', 'environment-threw', false],
    ],
    [
      elsewhere,
      {},
      { lease: async name => (name === 'verifier' ? fails('no-route') : undefined) },
      ['infrastructure-error', 'provision-failed', false],
    ],
    [
      elsewhere,
      {},
      { lease: async name => (name === 'verifier' ? fails('breaker-open', { transient: true }) : undefined) },
      ['infrastructure-error', 'provision-failed', true],
    ],
    [
      elsewhere,
      { grade: async answer => (answer === '42' ? { score: 1 } : fails('session-lost')) },
      {},
      ['infrastructure-error', 'sandbox-lost', true],
    ],
  ]
  for (const [task, peer, scene, expected] of cases) {
    const { end, events } = play(task, peer, scene)
    const { outcome, stopReason, retryable, reward, failedPhase, trajectory } = await end
    assert.equal([outcome, stopReason, retryable], expected)
    assert.equal([reward, failedPhase], [null, 'verifying'])
    assert.ok(trajectory.actorGrade !== null && trajectory.actorGrade !== undefined)
    assert.is(events.filter(event => event.startsWith('lease')).length, releases(events))
  }
})

const releases = (events: readonly string[]) => events.filter(event => event.startsWith('release')).length

test('a task that cannot be graded is told to the verifier as such, whose grade counts, and the failure stays', async () => {
  const { end, events } = play(beside, {
    grade: async answer => (answer === '42' ? fails('remote-error') : { score: 0.5 }),
  })
  const { outcome, failedPhase, reward, error, trajectory } = await end
  assert.equal([outcome, failedPhase, reward, error?.tag], ['environment-error', 'grading', 0.5, 'remote-error'])
  assert.equal([trajectory.actorGrade, trajectory.grade], [null, { score: 0.5 }])
  assert.is(events.at(-2), 'grade {"score":0,"answer":"42","content":"it is remote-error","isError":true}')
})

test('a task whose sandbox dies while it is graded goes to no verifier', async () => {
  const { end, events } = play(elsewhere, { grade: async () => fails('session-lost') })
  const { outcome, reward, retryable } = await end
  assert.equal([outcome, reward, retryable], ['infrastructure-error', null, true])
  assert.not(events.includes('lease verifier'))
})

test('an agent that fails is verified on what it left', async () => {
  const agent: Agent = { name: 'throws', run: () => Promise.reject(new Error('confused')) }
  const { end } = play(beside, {}, { agent })
  const { outcome, reward, stopReason } = await end
  assert.equal([outcome, reward, stopReason], ['agent-error', 0.75, 'agent-threw'])
})

test('a prompt that nobody can be shown is the environment’s fault, and neither graded nor verified', async () => {
  const agent: Agent = { name: 'chat', run: async () => fails('bad-prompt') }
  const { end, events } = play(beside, {}, { agent })
  const { outcome, reward, failedPhase } = await end
  assert.equal([outcome, reward, failedPhase], ['environment-error', null, 'agent'])
  assert.equal(events, ['lease actor', 'start do', 'release actor true'])
})

test('a verifier that never ends costs its deadline, and a lease that comes after it is not kept', async () => {
  const late = play(elsewhere, {}, { lease: async name => (name === 'verifier' ? never() : undefined) })
  await late.clock.advance(withDefaultDeadlines().verifying)
  const { outcome, stopReason, reward } = await late.end
  assert.equal([outcome, stopReason, reward], ['infrastructure-error', 'deadline', null])
  assert.is(late.events.at(-1), 'release verifier false')
  const slow = play(beside, { start: async (_, id) => (id === 'verify' ? never() : 'do it') })
  await slow.clock.advance(withDefaultDeadlines().verifying)
  const end = await slow.end
  assert.equal([end.outcome, end.stopReason, end.reward], ['environment-error', 'deadline', null])
})

test('a cancel while the verifier’s sandbox is waited for gives both leases back at once', async () => {
  const cancel = new AbortController()
  const lease = async (name: string) => (name === 'verifier' ? never() : undefined)
  const { end, events, open } = play(elsewhere, {}, { cancel: cancel.signal, lease })
  await settle()
  cancel.abort()
  const { outcome, reward } = await end
  assert.equal([outcome, reward], ['cancelled', null])
  assert.equal(events.slice(-2), ['lease verifier', 'release verifier false'])
  assert.is(open(), 0)
})

test('a verifier’s sandbox that dies ends the wait for it, and is explained', async () => {
  const { end, die } = play(elsewhere, { grade: async answer => (answer === '42' ? { score: 1 } : never()) })
  await settle()
  die('verifier')
  const { outcome, error, retryable, reward } = await end
  assert.equal([outcome, retryable, reward], ['infrastructure-error', true, null])
  assert.match(error?.message ?? '', /died in the phase "verifying".*its host was killed/)
})

test('a first sandbox that dies while it is given back keeps nobody from the verifier', async () => {
  let goodbyes = 0
  const leave: (() => void)[] = []
  const played = play(elsewhere, {
    end: () => {
      goodbyes += 1
      return goodbyes > 1 ? Promise.resolve(true) : new Promise(resolve => leave.push(() => resolve(false)))
    },
  })
  await settle()
  played.die('actor')
  for (const resolve of leave) resolve()
  const { outcome, reward } = await played.end
  assert.equal([outcome, reward], ['graded', 0.75])
})

test('a sandbox that died of what another would die of, too, is not tried again', async () => {
  for (const transient of [true, false]) {
    const { end, die } = play(actor, { grade: never })
    await settle()
    die('actor', { transient })
    assert.equal([(await end).outcome, (await end).retryable], ['infrastructure-error', transient])
  }
})

test.run()

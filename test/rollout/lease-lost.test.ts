import * as assert from 'uvu/assert'
import type { ErrorData } from '../../src/errors.ts'
import { toLeaseId, toSandboxId } from '../../src/ids.ts'
import { withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { type RolloutEnd, rollout } from '../../src/rollout/rollout.ts'
import type { Leased } from '../../src/rollout/stay.ts'
import { type FakePeer, fakeClient, noLease } from '../support/fake-session.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('rollout: a sandbox that dies')

const why: ErrorData = { tag: 'sandbox-lost', message: 'its host was killed' }
const leased: Leased = {
  leaseId: toLeaseId('l'),
  sandboxId: toSandboxId('s'),
  address: { kind: 'unix', path: '/nowhere' },
  sessionId: undefined,
  kind: 'hit',
}

/** A rollout whose sandbox dies when `die` is called; `leasing` may do so before the lease is there. */
function begin(peer: FakePeer, leasing: (die: () => void) => Promise<void> = async () => {}) {
  const client = fakeClient(peer)
  const clock = new VirtualClock()
  const released: boolean[] = []
  let asked = 0
  let die = () => {}
  const end: Promise<RolloutEnd> = rollout(
    {
      task: { env: 'fake', id: 'do', args: {}, slug: 'do' },
      seed: 7,
      deadlines: withDefaultDeadlines(),
      cancel: new AbortController().signal,
    },
    {
      clock,
      client,
      agent: { name: 'answers', run: async () => ({ answer: '42', stop: 'done' }) },
      async lease(_deadlineMs, onLost) {
        die = () => onLost(why)
        await leasing(die)
        return leased
      },
      async whyLost() {
        asked += 1
        return undefined
      },
      release: ended => void released.push(ended),
      verifier: noLease,
      openShell: () => Promise.reject(new Error('no shell here')),
    },
  )
  return { client, clock, end, released, asked: () => asked, die: () => die() }
}

test('is told of before the phase notices, whose wait then ends at once, and nobody is asked why', async () => {
  let told: AbortSignal | undefined
  const { asked, clock, die, end, released } = begin({
    connect: signal => {
      told = signal
      return new Promise(() => {})
    },
  })
  await settle()
  die()
  const { error, failedPhase, outcome, retryable, reward, stopReason } = await end
  assert.equal(
    [outcome, reward, stopReason, failedPhase, retryable],
    ['infrastructure-error', null, 'sandbox-lost', 'connecting', true],
  )
  assert.is(
    error?.message,
    'the sandbox died in the phase "connecting" of its rollout; its sandbox: its host was killed',
  )
  assert.equal(error?.cause, why)
  assert.equal([clock.now(), clock.pending, released, asked(), told?.aborted], [0, 0, [false], 0, true])
})

test('before its lease has arrived is still the lost sandbox of that lease, which is given back', async () => {
  const { end, released } = begin({}, async die => die())
  const { failedPhase, lease, stopReason } = await end
  assert.equal([stopReason, failedPhase, lease, released], ['sandbox-lost', 'connecting', 'hit', [false]])
})

test('is not waited for to say goodbye', async () => {
  const { client, clock, die, end } = begin({ grade: () => new Promise(() => {}) })
  await settle()
  die()
  assert.is((await end).failedPhase, 'grading')
  assert.equal([client.aborted(), clock.now()], [1, 0])
})

test('after its grade takes nothing back', async () => {
  let goodbye: (seen: boolean) => void = () => {}
  const { die, end, released } = begin({
    end: () =>
      new Promise(resolve => {
        goodbye = resolve
      }),
  })
  await settle()
  die()
  goodbye(true)
  const { error, outcome, reward } = await end
  assert.equal([outcome, reward, error, released], ['graded', 1, undefined, [true]])
})

test.run()

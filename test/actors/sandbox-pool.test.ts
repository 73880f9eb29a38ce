import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { FakeRuntime } from './fake-runtime.ts'
import { withPool } from './pool-scene.ts'

const test = suite('sandbox-pool')

test('leases a fresh sandbox to each rollout, labelled from its create on, and gives it back', () =>
  withPool({}, async ({ lease, pool, runtime, stats }) => {
    const reply = await lease()
    assert.is(reply.type, 'leased')
    if (reply.type !== 'leased') return
    assert.is(reply.kind, 'cold')
    assert.equal(reply.address, { kind: 'unix', path: `/run/${reply.sandboxId}` })
    const labels = runtime.requests[0]?.labels
    assert.is(labels?.job, 'job-1')
    assert.is(labels?.run, 'run-1')
    assert.is(labels?.sandbox, reply.sandboxId)
    assert.ok(Date.parse(labels?.expiry ?? '') > 0)
    pool.tell({ type: 'release', leaseId: reply.leaseId, sessionEnded: true })
    await settle()
    const { created, gone, leased } = await stats()
    assert.equal({ created, gone, leased }, { created: 1, gone: 1, leased: 0 })
    assert.is(runtime.existing.size, 0)
  }))

test('a wall clock that is set back gives the next sandbox an end of its own, not the old one far in the future', () => {
  const clock = new VirtualClock()
  return withPool(
    {},
    async ({ lease, runtime }) => {
      await lease()
      const back = clock.wallTime() - 3_600_000
      clock.wallTime = () => back
      await lease()
      const [first = 0, second = 0] = runtime.requests.map(({ labels }) => Date.parse(labels.expiry ?? ''))
      assert.is(first - second, 3_600_000)
    },
    new FakeRuntime(),
    clock,
  )
})

test('a prewarmed lease is a hit with a parked session', () =>
  withPool({ pool: { strategy: 'prewarm', size: 2 } }, async ({ lease, pool, stats }) => {
    pool.tell({ type: 'demand', remaining: 2 })
    await settle()
    assert.is((await stats()).ready, 2)
    const reply = await lease()
    assert.is(reply.type === 'leased' && reply.kind, 'hit')
    assert.is(reply.type === 'leased' && reply.sessionId, reply.type === 'leased' && `sess-${reply.sandboxId}`)
    assert.is((await stats()).created, 2)
  }))

test('an owner that fails loses its leases; the others keep theirs', () =>
  withPool({}, async ({ clock, lease, runtime, stats, stopOwner }) => {
    await Promise.all([lease(0), lease(0), lease(1)])
    stopOwner(0)
    // Its parent restarts it a few times before it gives up: only then is it gone.
    for (let time = 0; time < 8; time += 1) {
      await clock.advance(500)
      stopOwner(0)
    }
    await settle()
    assert.is((await stats()).leased, 1)
    assert.is(runtime.existing.size, 1)
  }))

test('a request whose deadline passes while it waits is refused by the clock', () =>
  withPool({ maxSandboxes: 1 }, async ({ clock, lease }) => {
    await lease()
    const late = lease(0, 500)
    await clock.advance(500)
    const reply = await late
    assert.is(reply.type === 'refused' && reply.error.tag, 'lease-timeout')
  }))

/** Cuts delays to whole milliseconds, as the system's timers do, and so is a fraction early. */
class WholeMillisecondClock extends VirtualClock {
  override after(delayMs: number, wake: () => void) {
    return super.after(Math.max(1, Math.trunc(delayMs)), wake)
  }
}

test('a timer that comes a fraction early is set anew, so that no retry waits for ever', () =>
  withPool(
    {},
    async ({ clock, lease, runtime, stats }) => {
      runtime.failing = new TroupeError({ tag: 'down', message: 'no answer', transient: true })
      const reply = lease()
      await settle()
      runtime.failing = undefined
      // The pause is 187.5 ms.
      await clock.advance(1_000)
      assert.is((await stats()).leases.cold, 1)
      assert.is((await reply).type, 'leased')
    },
    new FakeRuntime(),
    new WholeMillisecondClock(),
  ))

test('a create that takes too long is called off, and its request tried again', () =>
  withPool({ provisionDeadlineMs: 1_000 }, async ({ clock, lease, runtime }) => {
    runtime.immediate = false
    const reply = lease()
    await clock.advance(1_000)
    assert.is(runtime.requests[0]?.signal.aborted, true)
    runtime.immediate = true
    await clock.advance(1_000)
    assert.is((await reply).type, 'leased')
    assert.is(runtime.requests.length, 2)
  }))

test('a create that hangs for good is quarantined and reported, and deleted if it comes through after all', () =>
  withPool({ provisionDeadlineMs: 1_000, disposeDeadlineMs: 500, createRetries: 0 }, async scene => {
    const { clock, lease, reports, runtime, stats } = scene
    runtime.immediate = false
    runtime.deaf = true
    const reply = lease()
    await clock.advance(1_500)
    assert.is((await reply).type, 'refused')
    assert.equal(
      reports.map(report => report.tag),
      ['sandbox-quarantined'],
    )
    assert.is((await stats()).quarantined, 1)
    runtime.finish()
    await settle()
    const { gone, quarantined } = await stats()
    assert.equal({ gone, quarantined }, { gone: 1, quarantined: 0 })
    assert.is(runtime.existing.size, 0)
  }))

test('a drain ends everything and answers; what would not go is named', () =>
  withPool({ disposeAttempts: 2 }, async ({ clock, drain, lease, runtime, stats }) => {
    const reply = await lease()
    runtime.undeletable = true
    const drained = drain()
    await clock.advance(60_000)
    assert.equal(await drained, { quarantined: reply.type === 'leased' ? [reply.sandboxId] : [] })
    const refused = await lease()
    assert.is(refused.type === 'refused' && refused.error.tag, 'pool-draining')
    assert.is((await stats()).quarantined, 1)
  }))

test('creates that keep failing are refused with the reason, which the figures tell too', () =>
  withPool({ breaker: { failures: 1, cooldownMs: 1_000 } }, async ({ lease, runtime, stats }) => {
    runtime.failing = new TroupeError({ tag: 'no-key', message: 'the key is missing' })
    const first = await lease()
    assert.is(first.type === 'refused' && first.error.tag, 'provision-failed')
    const second = await lease()
    assert.match(second.type === 'refused' ? second.error.message : '', /the key is missing/)
    const { breaker, createFailures } = await stats()
    assert.is(breaker?.tag, 'no-key')
    assert.is(createFailures, 1)
  }))

test('a pool that is stopped without a drain still leaves no sandbox', () =>
  withPool({ pool: { strategy: 'prewarm', size: 2 } }, async ({ lease, pool, runtime, stop }) => {
    pool.tell({ type: 'demand', remaining: 3 })
    await settle()
    await lease()
    await settle()
    assert.is(runtime.existing.size, 3)
    await stop()
    assert.is(runtime.existing.size, 0)
  }))

test.run()

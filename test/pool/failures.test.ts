import * as assert from 'uvu/assert'
import type { LeaseId } from '../../src/ids.ts'
import { suite } from '../support/suite.ts'
import { Simulation } from './simulation.ts'

const test = suite('pool: creates that fail')

const kindOf = (pool: Simulation, leaseId: LeaseId): string | undefined => {
  const outcome = pool.outcomes.get(leaseId)
  return outcome?.type === 'leased' ? outcome.kind : outcome?.error.tag
}

const limited = { transient: true, tag: 'too-many-requests', message: 'slow down', details: { retryAfterMs: 1_000 } }

test('a transient failure is tried again for the same request, a bounded number of times', () => {
  const pool = new Simulation({ createRetries: 2 })
  const leaseId = pool.lease()
  for (let failure = 1; failure <= 3; failure += 1) {
    pool.createFailed({ transient: true })
    pool.advance(1_000)
  }
  assert.is(pool.creates.length, 3)
  const outcome = pool.outcomes.get(leaseId)
  assert.is(outcome?.type === 'refused' && outcome.error.tag, 'provision-failed')
  assert.is(outcome?.type === 'refused' && outcome.error.transient, true)
})

test('a failure that is not transient refuses its request at once, and no other', () => {
  const pool = new Simulation()
  const [first, second] = [pool.lease(), pool.lease()]
  const [, later] = [...pool.creating.keys()]
  pool.createFailed({}, later)
  assert.is(kindOf(pool, second), 'provision-failed')
  pool.created()
  assert.is(kindOf(pool, first), 'cold')
})

test('creates that keep failing open the breaker, which says why; one probe closes it', () => {
  const pool = new Simulation({ breaker: { failures: 2, cooldownMs: 5_000 }, createRetries: 9 })
  const [first, second] = [pool.lease(), pool.lease()]
  pool.createFailed({ transient: true, message: 'no key' })
  pool.createFailed({ transient: true, message: 'no key' })
  assert.is(kindOf(pool, first), 'pool-breaker-open')
  assert.is(kindOf(pool, second), 'pool-breaker-open')
  const refused = pool.lease()
  const outcome = pool.outcomes.get(refused)
  assert.match(outcome?.type === 'refused' ? outcome.error.message : '', /2 creates in a row failed.*no key/)

  pool.advance(5_000)
  const probing = pool.lease()
  const behind = pool.lease()
  assert.is(pool.creating.size, 1, 'one probe')
  pool.created()
  assert.is(kindOf(pool, probing), 'cold')
  pool.created()
  assert.is(kindOf(pool, behind), 'cold')
})

test('of a burst a quarter must fail in a row before the breaker opens: what fails ends first', () => {
  const pool = new Simulation({ breaker: { failures: 2, cooldownMs: 5_000 }, maxSandboxes: 41, createRetries: 0 })
  for (let request = 0; request < 41; request += 1) pool.lease()
  for (let failure = 1; failure <= 8; failure += 1) pool.createFailed({ transient: true })
  assert.is(pool.state.breaker.type, 'closed')
  pool.createFailed({ transient: true })
  assert.is(pool.state.breaker.type, 'open')
})

test('a probe that fails opens the breaker again', () => {
  const pool = new Simulation({ breaker: { failures: 1, cooldownMs: 5_000 } })
  pool.lease()
  pool.createFailed({ transient: true })
  pool.advance(5_000)
  pool.lease()
  const behind = pool.lease()
  pool.createFailed({ transient: true })
  assert.is(kindOf(pool, behind), 'pool-breaker-open')
})

test('a provider that says when to come back is not asked before', () => {
  const pool = new Simulation()
  pool.lease()
  pool.createFailed({ transient: true, details: { retryAfterMs: 7_000 } })
  const other = pool.lease()
  pool.advance(6_999)
  assert.is(pool.creates.length, 1)
  pool.advance(1)
  assert.is(pool.creates.length, 3)
  assert.is(kindOf(pool, other), undefined)
})

test('a limit on the rate counts against nobody: not the breaker, not the attempts of a request', () => {
  const pool = new Simulation({ breaker: { failures: 2, cooldownMs: 5_000 }, createRetries: 0 })
  const leaseId = pool.lease()
  for (let time = 0; time < 5; time += 1) {
    pool.createFailed(limited)
    pool.advance(1_000)
  }
  assert.is(pool.state.breaker.type, 'closed')
  assert.is(pool.state.createFailures, 5)
  pool.created()
  assert.is(kindOf(pool, leaseId), 'cold')
})

test('a probe that meets a limit says nothing of the provider: the next one decides', () => {
  const pool = new Simulation({ breaker: { failures: 1, cooldownMs: 5_000 } })
  pool.lease()
  pool.createFailed({ transient: true })
  pool.advance(5_000)
  const leaseId = pool.lease()
  pool.createFailed(limited)
  pool.advance(1_000)
  assert.is(pool.creating.size, 1)
  pool.created()
  assert.is(kindOf(pool, leaseId), 'cold')
})

test('a request that only ever met the limit is told so when its time is over', () => {
  const pool = new Simulation()
  const leaseId = pool.lease({ deadlineMs: 500 })
  pool.createFailed(limited)
  pool.advance(500)
  const outcome = pool.outcomes.get(leaseId)
  assert.match(outcome?.type === 'refused' ? outcome.error.message : '', /within 500 ms.*slow down/)
})

test.run()

import * as assert from 'uvu/assert'
import type { LeaseId } from '../../src/ids.ts'
import { suite } from '../support/suite.ts'
import { Simulation } from './simulation.ts'

const test = suite('pool')

const kindOf = (pool: Simulation, leaseId: LeaseId): string | undefined => {
  const outcome = pool.outcomes.get(leaseId)
  return outcome?.type === 'leased' ? outcome.kind : outcome?.error.tag
}

test('a lease past its deadline never takes a sandbox', () => {
  const pool = new Simulation({ maxSandboxes: 1 })
  const late = pool.lease({ deadlineMs: 10 })
  const patient = pool.lease({ deadlineMs: 1_000 })
  // The clock has moved, but no timer has fired yet: the deadline is looked at again when the turn comes.
  pool.now = 10
  pool.created()
  assert.is(kindOf(pool, late), 'lease-timeout')
  assert.is(kindOf(pool, patient), 'cold')
})

test('a late request is refused in time even when no sandbox becomes free', () => {
  const pool = new Simulation({ maxSandboxes: 1 })
  pool.lease({ deadlineMs: 60_000 })
  const late = pool.lease({ deadlineMs: 100 })
  pool.advance(100)
  assert.is(kindOf(pool, late), 'lease-timeout')
})

test('requests are served in the order they came, whichever create ends first', () => {
  const pool = new Simulation()
  const [first, second] = [pool.lease(), pool.lease()]
  const [, later] = [...pool.creating.keys()]
  pool.created(later)
  assert.is(kindOf(pool, first), 'cold')
  assert.is(kindOf(pool, second), undefined)
  pool.created()
  assert.is(kindOf(pool, second), 'cold')
  assert.is(pool.creates.length, 2)
})

test('a create whose request is withdrawn serves the next request, and is called off when there is none', () => {
  const pool = new Simulation({ maxSandboxes: 1 })
  const first = pool.lease()
  const second = pool.lease()
  pool.release(first)
  assert.is(kindOf(pool, first), 'lease-withdrawn')
  assert.is(pool.creates.length, 1)
  pool.release(second)
  assert.equal(
    [...pool.creating.values()].map(create => create.cancelled),
    [true],
  )
  pool.created()
  assert.is(pool.deleting.size, 1)
  pool.deleted()
  assert.is(pool.existing.size, 0)
})

test('the cap counts what is being deleted', () => {
  const pool = new Simulation({ maxSandboxes: 1 })
  const first = pool.lease()
  pool.created()
  pool.lease()
  pool.release(first)
  assert.is(pool.creates.length, 1)
  pool.deleted()
  assert.is(pool.creates.length, 2)
})

test('giving back twice, or what was never leased, is harmless', () => {
  const pool = new Simulation()
  const leaseId = pool.lease()
  pool.created()
  pool.release(leaseId)
  pool.release(leaseId)
  assert.is(pool.deleting.size, 1)
})

test('an owner that is gone loses its leases and its requests, and nobody else does', () => {
  const pool = new Simulation({ maxSandboxes: 2 })
  pool.lease({ owner: 'gone' })
  pool.lease({ owner: 'stays' })
  const waiting = pool.lease({ owner: 'gone' })
  pool.created()
  pool.created()
  pool.ownerGone('gone')
  assert.is(pool.deleting.size, 1)
  assert.is(kindOf(pool, waiting), 'lease-owner-gone')
  assert.equal([...pool.watched], ['stays'])
})

test('a sandbox whose asker is gone is handed to the next one untouched', () => {
  const pool = new Simulation()
  pool.lease({ deaf: true })
  const next = pool.lease()
  pool.created()
  assert.is(kindOf(pool, next), 'cold')
})

test('creates go out in waves and through the bucket, deletes do not wait for them', () => {
  const pool = new Simulation({ maxSandboxes: 9, wave: 3, createRate: { perSecond: 10, burst: 2 } })
  const first = pool.lease()
  for (let more = 0; more < 8; more += 1) pool.lease()
  assert.is(pool.creating.size, 2, 'the burst')
  pool.advance(1_000)
  assert.is(pool.creating.size, 3, 'the wave')
  pool.created()
  pool.release(first)
  assert.is(pool.deleting.size, 1)
})

test('what waits for a sandbox is told how that came to be, and what was there before, only that it was', () => {
  const pool = new Simulation({ strategy: 'prewarm', size: 1 })
  pool.demand(3)
  pool.created(undefined, 'claim')
  const hit = pool.lease()
  const waits = pool.lease()
  pool.created(undefined, 'claim')
  assert.equal([kindOf(pool, hit), kindOf(pool, waits)], ['hit', 'claim'])
})

test('a prewarmed sandbox is a hit; prewarming follows demand and never exceeds it', () => {
  const pool = new Simulation({ strategy: 'prewarm', size: 2 })
  assert.is(pool.creates.length, 0, 'nobody has said that anything is to come')
  pool.demand(3)
  assert.is(pool.creating.size, 2)
  pool.created()
  pool.created()
  const first = pool.lease()
  assert.is(kindOf(pool, first), 'hit')
  assert.is(pool.creating.size, 1, 'the one that is left to come is made ready')
  const second = pool.lease()
  const third = pool.lease()
  assert.is(kindOf(pool, second), 'hit')
  assert.is(pool.creates.length, 3, 'the last request takes over what was being made for stock')
  pool.created()
  assert.is(kindOf(pool, third), 'cold')
  assert.equal(pool.state.granted, { hit: 2, cold: 1, claim: 0, fork: 0 })
})

test('stock that has no room beside a waiting retry asks for no timer of its own', () => {
  const pool = new Simulation({ strategy: 'prewarm', size: 'auto', maxSandboxes: 1 })
  const leaseId = pool.lease({ deadlineMs: 60_000 })
  pool.createFailed({ transient: true })
  pool.demand(1)
  assert.ok(pool.wakeAt > pool.now, 'the pool sleeps until the retry, and does not spin')
  pool.advance(10_000)
  pool.created()
  assert.is(kindOf(pool, leaseId), 'cold')
})

test('surplus is disposed of when demand falls', () => {
  const pool = new Simulation({ strategy: 'prewarm', size: 4 })
  pool.demand(10)
  pool.created()
  pool.created()
  pool.demand(1)
  assert.is(pool.state.ledger.count('ready') + pool.state.ledger.count('stocking'), 1)
  assert.equal(
    [...pool.creating.values()].map(create => create.cancelled),
    [true, true],
  )
})

test('a ready sandbox that dies is replaced', () => {
  const pool = new Simulation({ strategy: 'prewarm', size: 1 })
  pool.demand(5)
  pool.created()
  for (const id of pool.existing) pool.lost(id)
  assert.is(pool.deleting.size, 1)
  assert.is(pool.creating.size, 1)
})

test('auto holds what measured demand needs during one refill', () => {
  const pool = new Simulation({ strategy: 'prewarm', size: 'auto', maxSandboxes: 64 })
  pool.demand(1_000)
  assert.is(pool.creating.size, 64, 'nothing is measured yet: one batch')
  pool.run()
  // Groups of 8 every 10 s, and creates that take 1 s.
  for (let group = 0; group < 40; group += 1) {
    const leases = Array.from({ length: 8 }, () => pool.lease())
    pool.advance(1_000)
    pool.run()
    pool.advance(4_000)
    for (const leaseId of leases) pool.release(leaseId)
    pool.run()
    pool.advance(5_000)
  }
  assert.is(pool.state.ledger.count('ready') <= 10, true, 'a quarter above the 8 of a group at most')
  assert.equal(pool.state.granted, { hit: 320, cold: 0, claim: 0, fork: 0 })
})

test('a sandbox that will not die is quarantined, reported, and still counted', () => {
  const pool = new Simulation({ maxSandboxes: 1, disposeAttempts: 3 })
  const leaseId = pool.lease()
  pool.created()
  pool.release(leaseId)
  for (let attempt = 1; attempt <= 3; attempt += 1) pool.deleteFailed()
  assert.equal(
    pool.reports.map(report => report.tag),
    ['sandbox-quarantined'],
  )
  assert.is(kindOf(pool, pool.lease()), 'pool-exhausted')
  pool.drain()
  for (let attempt = 1; attempt <= 3; attempt += 1) pool.deleteFailed()
  assert.is(pool.drained?.quarantined.length, 1)
  pool.deleted()
  assert.is(pool.existing.size, 0, 'a delete that comes through after all is believed')
})

test('a drain refuses what waits, calls off creates, takes leases back and gives nothing more out', () => {
  const pool = new Simulation({ maxSandboxes: 2 })
  const leaseId = pool.lease()
  pool.lease()
  const waiting = pool.lease()
  pool.created()
  pool.drain()
  assert.is(kindOf(pool, waiting), 'pool-draining')
  assert.is(pool.drained, undefined)
  assert.is(kindOf(pool, pool.lease()), 'pool-draining')
  pool.release(leaseId)
  assert.is(pool.deleting.size, 1)
  pool.createFailed()
  pool.deleted()
  assert.equal(pool.drained, { quarantined: [] })
})

test.run()

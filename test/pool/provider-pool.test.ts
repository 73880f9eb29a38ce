import * as assert from 'uvu/assert'
import { toStats } from '../../src/pool/stats.ts'
import { suite } from '../support/suite.ts'
import { Simulation } from './simulation.ts'

const test = suite('pool: the provider’s own')

const held = (size = 8, demand = 100) => {
  const pool = new Simulation({ source: { type: 'provider-pool', size }, maxSandboxes: 64 })
  pool.demand(demand)
  pool.poolHeld()
  return pool
}

test('it is held at the first demand, no larger than that, and asked for once', () => {
  const pool = new Simulation({ source: { type: 'provider-pool', size: 8 } })
  pool.demand(0)
  assert.equal(pool.asked, [])
  pool.demand(3)
  pool.demand(100)
  assert.equal(pool.asked, ['hold 3'])
  assert.is(toStats(pool.state).source, 'create', 'until it is held')
  pool.poolHeld()
  assert.is(toStats(pool.state).source, 'provider-pool')
})

test('it is counted again and again, and a count that fails leaves the old figure with its age', () => {
  const pool = held()
  assert.equal(pool.asked, ['hold 8', 'count'])
  assert.equal(toStats(pool.state).providerPool, { target: 8, ready: undefined, countedMsAgo: undefined })
  pool.advance(5_000)
  assert.is(pool.asked.length, 2, 'one count at a time')
  pool.poolCounted(5)
  pool.advance(1_999)
  assert.is(pool.asked.length, 2)
  pool.advance(1)
  assert.is(pool.asked.length, 3)
  pool.poolCounted(0, { tag: 'down', message: 'no answer' })
  assert.equal(toStats(pool.state).providerPool, { target: 8, ready: 5, countedMsAgo: 2_000 })
  pool.advance(2_000)
  pool.poolCounted(8)
  assert.equal(toStats(pool.state).providerPool, { target: 8, ready: 8, countedMsAgo: 0 })
})

test('a lease is called what its sandbox turned out to be', () => {
  const pool = held()
  const [claimed, cold] = [pool.lease(), pool.lease()]
  pool.created(undefined, 'claim')
  pool.created(undefined, 'cold')
  assert.equal(
    [claimed, cold].map(leaseId => {
      const outcome = pool.outcomes.get(leaseId)
      return outcome?.type === 'leased' && outcome.kind
    }),
    ['claim', 'cold'],
  )
})

test('where it is refused, creates go on, and that is told once', () => {
  const pool = new Simulation({ source: { type: 'provider-pool', size: 8 } })
  pool.demand(3)
  pool.poolHeld({ tag: 'forbidden', message: 'not enabled for this organisation' })
  const leaseId = pool.lease()
  pool.created()
  assert.is(pool.outcomes.get(leaseId)?.type, 'leased')
  assert.equal(
    pool.reports.map(report => report.tag),
    ['provider-pool-refused'],
  )
  const { source, sourceError, providerPool } = toStats(pool.state)
  assert.equal([source, providerPool], ['create', undefined])
  assert.match(sourceError?.message ?? '', /not enabled for this organisation/)
  pool.drain()
  pool.run()
  assert.equal(pool.drained, { quarantined: [] })
  assert.equal(pool.asked, ['hold 3'])
})

test('a drain lets go of it at once and is not over before it is gone', () => {
  const pool = held()
  const leaseId = pool.lease()
  pool.created()
  pool.drain()
  assert.is(pool.asked.at(-1), 'drop')
  assert.is(pool.outcomes.get(leaseId)?.type, 'leased')
  pool.run()
  assert.is(pool.drained, undefined)
  pool.poolDropped()
  assert.equal(pool.drained, { quarantined: [] })
})

test('a drain in the middle of a hold lets go of what may have come of it', () => {
  const pool = new Simulation({ source: { type: 'provider-pool', size: 8 } })
  pool.demand(3)
  pool.drain()
  assert.equal(pool.asked, ['hold 3', 'drop'])
  pool.poolHeld()
  pool.poolDropped()
  assert.equal(pool.drained, { quarantined: [] })
})

test('one that could not be let go of is reported, and told with the drain', () => {
  const pool = held()
  pool.drain()
  pool.poolDropped({ tag: 'still-there', message: 'the provider says no' })
  assert.equal(
    pool.reports.map(report => report.tag),
    ['provider-pool-left'],
  )
  assert.match(pool.drained?.providerPool?.message ?? '', /the provider says no/)
})

test.run()

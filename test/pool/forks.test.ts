import * as assert from 'uvu/assert'
import type { LeaseId, SandboxId } from '../../src/ids.ts'
import { toStats } from '../../src/pool/stats.ts'
import { suite } from '../support/suite.ts'
import { Simulation } from './simulation.ts'

const test = suite('pool: forks')

const fork = (parents: number, required = true) => ({ type: 'fork', parents, required }) as const

const kindOf = (pool: Simulation, leaseId: LeaseId): string | undefined => {
  const outcome = pool.outcomes.get(leaseId)
  return outcome?.type === 'leased' ? outcome.kind : outcome?.error.tag
}

/** A pool whose parents are ready, and nothing else. */
function rooted(parents: number, config: ConstructorParameters<typeof Simulation>[0] = {}) {
  const pool = new Simulation({ source: fork(parents), maxSandboxes: 64, ...config })
  pool.demand(1_000)
  const roots = [...pool.state.ledger.ids('rooting')]
  for (const id of roots) pool.created(id)
  return { pool, roots }
}

const forksOf = (pool: Simulation, parent: SandboxId) => pool.creates.filter(create => create.parent === parent)

test('parents are created at the start of demand, and each bears one fork at a time', () => {
  const { pool, roots } = rooted(2)
  assert.is(roots.length, 2)
  const leases = [pool.lease(), pool.lease(), pool.lease()]
  assert.equal(
    pool.creates.slice(2).map(create => create.parent),
    roots,
    'the third request waits for a parent',
  )
  const [first, second] = pool.creating.keys()
  pool.forkable(first)
  assert.is(pool.creates.length, 5, 'the first parent is free again')
  pool.created(first)
  pool.created(second)
  pool.run()
  assert.equal(
    leases.map(leaseId => kindOf(pool, leaseId)),
    ['fork', 'fork', 'fork'],
  )
  assert.equal(
    roots.map(id => pool.state.ledger.get(id)?.type),
    ['root', 'root'],
    'kept, and never leased',
  )
  assert.equal(toStats(pool.state).parents, { kept: 2, forking: 0 })
})

test('no more parents are made than are wanted, and they leave room for a lease', () => {
  const few = new Simulation({ source: fork(4), maxSandboxes: 64 })
  few.demand(2)
  assert.is(few.state.ledger.count('rooting'), 2)
  const narrow = new Simulation({ source: fork(4), maxSandboxes: 3 })
  narrow.demand(100)
  assert.is(narrow.state.ledger.count('rooting'), 2)
})

test('a parent that is lost is replaced, one that bears a fork only after that fork', () => {
  const { pool, roots } = rooted(2)
  const [idle, busy] = [roots[1], roots[0]]
  if (idle === undefined || busy === undefined) throw new Error('no parents')
  pool.lease()
  assert.is(forksOf(pool, busy).length, 1)
  pool.lost(idle)
  assert.ok(pool.deleting.has(idle))
  pool.lost(busy)
  assert.not(pool.deleting.has(busy))
  assert.is(pool.state.ledger.count('rooting'), 2)
  pool.forkable(forksOf(pool, busy)[0]?.id)
  assert.ok(pool.deleting.has(busy))
})

test('a sandbox still being made for a request bears the next one', () => {
  const { pool } = rooted(1)
  for (let more = 0; more < 4; more += 1) pool.lease()
  const child = [...pool.creating.keys()][0]
  if (child === undefined) throw new Error('no fork')
  pool.forkable(child)
  assert.is(forksOf(pool, child).length, 1)
  assert.is(pool.creates.length, 4, 'the parent and its child each bear one')
})

test('what is made while a fork of it is in flight is handed out when that has ended', () => {
  const { pool } = rooted(1)
  const leases = [pool.lease(), pool.lease(), pool.lease()]
  const child = [...pool.creating.keys()][0]
  pool.forkable(child)
  pool.created(child)
  assert.is(pool.outcomes.size, 0)
  assert.is(toStats(pool.state).ready, 1)
  const grandchild = pool.creates.find(create => create.parent === child)?.id
  pool.forkable(grandchild)
  assert.equal(
    leases.map(leaseId => kindOf(pool, leaseId)),
    ['fork', undefined, undefined],
  )
})

test('a ready sandbox bears forks first while more wait than forks are in flight, and serves one of those who wait', () => {
  const pool = new Simulation({ source: fork(1), maxSandboxes: 64, seeds: 1 })
  const leases = Array.from({ length: 8 }, () => pool.lease())
  const cold = pool.creates.find(create => pool.state.ledger.get(create.id)?.type === 'creating')?.id
  pool.created(cold)
  assert.is(pool.outcomes.size, 0)
  assert.is(pool.creates.at(-1)?.parent, cold)
  pool.run()
  assert.equal(leases.map(leaseId => kindOf(pool, leaseId)).sort(), ['cold', ...Array(7).fill('fork')])
  assert.is(pool.creates.length, 9, 'one for each request, and the parent')
})

test('as long as there is nothing to fork, requests are created: none waits for parents that never come', () => {
  const pool = new Simulation({ source: fork(2), maxSandboxes: 64, seeds: 3, createRetries: 2 })
  const leases = Array.from({ length: 5 }, () => pool.lease())
  assert.is(pool.creating.size, 2 + 3)
  for (const id of [...pool.state.ledger.ids('rooting')]) pool.createFailed({ transient: true }, id)
  pool.created()
  assert.ok(pool.creates.some(create => create.parent !== undefined))
  pool.run()
  for (const leaseId of leases) assert.ok(['cold', 'fork'].includes(String(kindOf(pool, leaseId))))
})

test('where one sandbox is all that may exist, it is created', () => {
  const pool = new Simulation({ source: fork(4), maxSandboxes: 1 })
  const leaseId = pool.lease()
  pool.run()
  assert.is(kindOf(pool, leaseId), 'cold')
})

test('a runtime that cannot fork is asked once, told of once, and its parents serve rollouts', () => {
  for (const required of [true, false]) {
    const { pool, roots } = rooted(2, { source: fork(2, required) })
    const first = pool.lease()
    const leases = [first, pool.lease(), pool.lease()]
    pool.createFailed({ tag: 'fork-unsupported', message: 'not in this region' })
    assert.is(kindOf(pool, first), 'cold', 'the parent that was free')
    pool.createFailed({ tag: 'fork-unsupported', message: 'not in this region' })
    pool.run()
    assert.equal(
      leases.map(leaseId => kindOf(pool, leaseId)),
      ['cold', 'cold', 'cold'],
    )
    assert.equal(
      pool.reports.map(report => report.tag),
      required ? ['forks-unsupported'] : [],
    )
    const { source, sourceError, parents, breaker } = toStats(pool.state)
    assert.equal([source, parents.kept, breaker], ['create', 0, undefined])
    assert.match(sourceError?.message ?? '', /not in this region/)
    assert.ok(roots.every(id => pool.state.ledger.get(id)?.type !== 'root'))
  }
})

test('a parent whose forks fail three times in a row is replaced', () => {
  const { pool, roots } = rooted(1, { createRetries: 9 })
  const [root] = roots
  if (root === undefined) throw new Error('no parent')
  pool.lease({ deadlineMs: 600_000 })
  for (let failure = 1; failure <= 3; failure += 1) {
    assert.not(pool.deleting.has(root))
    pool.createFailed({ transient: true })
    pool.advance(10_000)
  }
  assert.ok(pool.deleting.has(root))
  assert.is(pool.state.ledger.count('rooting'), 1)
})

test('failed forks count for the breaker, and the last attempt for a request is a create', () => {
  const { pool } = rooted(1, { breaker: { failures: 3, cooldownMs: 5_000 }, createRetries: 2 })
  pool.lease({ deadlineMs: 600_000 })
  for (let failure = 1; failure <= 2; failure += 1) {
    assert.is(pool.creating.values().next().value?.parent !== undefined, true)
    pool.createFailed({ transient: true })
    pool.advance(1_000)
  }
  assert.is(pool.creating.values().next().value?.parent, undefined)
  pool.createFailed({ transient: true })
  assert.is(pool.state.breaker.type, 'open')
})

test('stock is forked too, from the shelf only while that is less than half full', () => {
  const pool = new Simulation({ source: fork(1), strategy: 'prewarm', size: 8, maxSandboxes: 64, seeds: 1 })
  pool.demand(100)
  const [root] = pool.state.ledger.ids('rooting')
  pool.created(root)
  const shelfParents = () => pool.creates.filter(({ parent }) => parent !== undefined && parent !== root)
  for (let made = 0; made < 3; made += 1) pool.created()
  assert.ok(shelfParents().length > 0)
  pool.run()
  assert.is(pool.state.ledger.count('ready'), 8)
  const before = shelfParents().length
  const hit = pool.lease()
  assert.is(kindOf(pool, hit), 'hit')
  assert.is(pool.creates.at(-1)?.parent, root)
  assert.is(shelfParents().length, before)
})

test('a create that nobody wants any more is called off when the fork of it is over, and not before', () => {
  const { pool } = rooted(1, { strategy: 'prewarm', size: 4, seeds: 0 })
  const [child] = pool.creating.keys()
  pool.forkable(child)
  const grandchild = pool.creates.find(({ parent }) => parent === child)?.id
  const cancelled = (id: SandboxId | undefined) => pool.creates.find(create => create.id === id)?.cancelled
  pool.demand(0)
  assert.equal([cancelled(child), cancelled(grandchild)], [false, true])
  pool.createFailed({ tag: 'provision-cancelled' }, grandchild)
  assert.is(cancelled(child), true)
})

test('a drain ends forks first, then their parents, and leaves nothing', () => {
  const { pool, roots } = rooted(2)
  pool.lease()
  pool.lease()
  const [child] = pool.creating.keys()
  pool.drain()
  assert.is(pool.deleting.size, 0, 'both parents still bear')
  pool.createFailed({ tag: 'provision-cancelled' }, child)
  assert.equal([...pool.deleting], roots.slice(0, 1))
  pool.run()
  assert.equal(pool.drained, { quarantined: [] })
  assert.is(pool.existing.size, 0)
})

test.run()

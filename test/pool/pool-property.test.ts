import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { LeaseId, SandboxId } from '../../src/ids.ts'
import type { PoolConfig } from '../../src/pool/pool-state.ts'
import { suite } from '../support/suite.ts'
import { Simulation } from './simulation.ts'

const test = suite('pool: any interleaving')

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('lease' as const),
      owner: fc.nat(3),
      deadlineMs: fc.integer({ min: 1, max: 3_000 }),
      deaf: fc.boolean(),
      kind: fc.constantFrom(undefined, undefined, undefined, 'a', 'b'),
      isExtra: fc.constantFrom(undefined, undefined, true as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('release' as const), pick: fc.nat(40) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('created' as const), pick: fc.nat(40) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('create-failed' as const),
      pick: fc.nat(40),
      transient: fc.boolean(),
      stuck: fc.boolean(),
      // What the provider calls it: mostly just a failure, now and then a limit, once in a while that it cannot fork.
      kind: fc.constantFrom(
        'plain' as const,
        'plain' as const,
        'plain' as const,
        'limit' as const,
        'no-forks' as const,
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('forkable' as const), pick: fc.nat(40) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('deleted' as const), pick: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete-failed' as const), pick: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('owner-gone' as const), owner: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('lost' as const), pick: fc.nat(40) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 2_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('demand' as const), remaining: fc.nat(20) }) },
)

const config = fc.record({
  strategy: fc.constantFrom('cold' as const, 'prewarm' as const),
  size: fc.oneof(fc.constant('auto' as const), fc.nat(6)),
  source: fc.oneof(
    fc.constant({ type: 'create' as const }),
    fc.record({
      type: fc.constant('fork' as const),
      parents: fc.integer({ min: 1, max: 3 }),
      required: fc.boolean(),
    }),
  ),
  seeds: fc.integer({ min: 1, max: 4 }),
  maxSandboxes: fc.integer({ min: 1, max: 8 }),
  wave: fc.integer({ min: 1, max: 4 }),
  createRate: fc.option(
    fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 4 }) }),
    { nil: undefined },
  ),
  breaker: fc.record({ failures: fc.integer({ min: 1, max: 5 }), cooldownMs: fc.integer({ min: 1, max: 3_000 }) }),
  maxWaiting: fc.integer({ min: 1, max: 20 }),
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const pick = <Item>(items: Iterable<Item>, index: number): Item | undefined => {
  const all = [...items]
  return all[index % Math.max(1, all.length)]
}

function play(pool: Simulation, leases: LeaseId[], move: Step): void {
  switch (move.type) {
    case 'lease':
      leases.push(
        pool.lease({
          owner: `owner-${move.owner}`,
          deadlineMs: move.deadlineMs,
          deaf: move.deaf && leases.length % 4 === 0,
          kind: move.kind,
          isExtra: move.isExtra,
        }),
      )
      return
    case 'release': {
      const leaseId = pick(leases, move.pick)
      if (leaseId !== undefined) pool.release(leaseId)
      return
    }
    case 'created':
      pool.created(pick(pool.creating.keys(), move.pick))
      return
    case 'create-failed':
      pool.createFailed(
        {
          transient: move.transient,
          ...(move.kind === 'limit' ? { transient: true, details: { retryAfterMs: 500 } } : {}),
          ...(move.kind === 'no-forks' ? { tag: 'fork-unsupported', transient: false } : {}),
          ...(move.stuck ? { tag: 'provision-stuck' } : {}),
        },
        pick(pool.creating.keys(), move.pick),
      )
      return
    case 'forkable':
      if (pool.state.config.source.type === 'fork') pool.forkable(pick(pool.creating.keys(), move.pick))
      return
    case 'deleted':
      pool.deleted(pick(pool.deleting, move.pick))
      return
    case 'delete-failed':
      pool.deleteFailed(pick(pool.deleting, move.pick))
      return
    case 'owner-gone':
      pool.ownerGone(`owner-${move.owner}`)
      return
    case 'lost': {
      const id: SandboxId | undefined = pick(pool.existing, move.pick)
      if (id !== undefined) pool.lost(id)
      return
    }
    case 'advance':
      pool.advance(move.ms)
      return
    case 'demand':
      pool.demand(move.remaining)
  }
}

/** The same moves, of which most go well: what forks do only shows where they live for a while. */
const forkingStep = fc.oneof({ weight: 1, arbitrary: step }, { weight: 4, arbitrary: step.filter(goesWell) })

const forkingConfig = fc
  .tuple(config, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 4, max: 16 }))
  .map(([settings, parents, maxSandboxes]) => ({
    ...settings,
    source: { type: 'fork' as const, parents, required: true },
    maxSandboxes,
    wave: 8,
    createRate: undefined,
  }))

test('conserves sandboxes, keeps every limit and answers every request once', () => {
  fc.assert(
    fc.property(config, fc.array(step, { maxLength: 120 }), (settings, steps) => playOut(settings, steps)),
    { numRuns: 400 },
  )
})

test('and so it does with forks: none of a sandbox that is leased or deleted, one at a time each, none leased meanwhile', () => {
  fc.assert(
    fc.property(forkingConfig, fc.array(forkingStep, { minLength: 20, maxLength: 160 }), (settings, steps) =>
      playOut(settings, [{ type: 'demand', remaining: 20 }, ...steps]),
    ),
    { numRuns: 400 },
  )
})

/** What must not happen on the way throws where it happens; here is what must hold at the end. */
function playOut(settings: Partial<PoolConfig>, steps: readonly Step[]): void {
  const pool = new Simulation(settings)
  const leases: LeaseId[] = []
  for (const move of steps) play(pool, leases, move)

  const given = [...pool.outcomes.values()].flatMap(outcome => (outcome.type === 'leased' ? [outcome.id] : []))
  assert.is(new Set(given).size, given.length, 'a sandbox is leased once in its life')

  // A provider that works again: everything waiting is answered, by a sandbox or by its deadline.
  for (let round = 0; round < 10; round += 1) {
    pool.run()
    pool.advance(10_000)
  }
  for (const leaseId of leases)
    assert.ok(pool.outcomes.has(leaseId) || pool.deaf.has(leaseId), `${leaseId} was never answered`)

  pool.drain()
  pool.run()
  assert.is(pool.state.tree.inFlight, 0)
  assert.equal(pool.drained, { quarantined: [] })
  assert.is(pool.existing.size, 0)
  assert.is(pool.state.ledger.created, pool.state.ledger.gone)
  assert.is(pool.watched.size, 0)
  assert.is(pool.state.leases.size, 0)
}

function goesWell(move: Step): boolean {
  return ['lease', 'created', 'forkable', 'deleted', 'demand', 'release'].includes(move.type)
}

test.run()

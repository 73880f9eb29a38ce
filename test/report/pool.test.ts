import * as assert from 'uvu/assert'
import type { JobSnapshot } from '../../src/job/snapshot.ts'
import { describePool, renderPool } from '../../src/report/pool.ts'
import { suite } from '../support/suite.ts'

const test = suite('pool in words')

const pool: NonNullable<JobSnapshot['pool']> = {
  strategy: 'prewarm',
  source: 'create',
  target: 8,
  creating: 0,
  ready: 3,
  leased: 5,
  deleting: 0,
  quarantined: 0,
  parents: { kept: 0, forking: 0 },
  waiting: 0,
  created: 8,
  gone: 0,
  createFailures: 0,
  leases: { hit: 5, cold: 0, claim: 0, fork: 0 },
  breaker: undefined,
}

test('a pool that is held ready is told with its target, and why it gives nothing out', () => {
  assert.is(describePool(pool).join(', '), 'pool 3/8 ready 5 leased, leases 5 hit')
  assert.is(
    describePool({ ...pool, strategy: 'cold', target: 0 }).join(', '),
    'sandboxes 3 ready 5 leased, leases 5 hit',
  )
  const stopped = { ...pool, breaker: { tag: 'pool-stopped', message: 'creates keep failing' } }
  assert.match(describePool(stopped).join(', '), /, pool stopped: creates keep failing$/)
})

test('claims, forks and the provider’s own pool are told where there are any', () => {
  const forks = {
    ...pool,
    source: 'fork',
    parents: { kept: 4, forking: 2 },
    leases: { hit: 5, cold: 2, claim: 0, fork: 3 },
  } as const
  assert.is(
    describePool(forks).join(', '),
    'pool 3/8 ready 5 leased, 4 parents 2 forking, leases 5 hit 2 cold 3 forked',
  )
  const claims = {
    ...pool,
    source: 'provider-pool',
    leases: { hit: 0, cold: 0, claim: 7, fork: 0 },
    providerPool: { target: 128, ready: 96, countedMsAgo: 10 },
  } as const
  assert.is(describePool(claims).join(', '), 'pool 3/8 ready 5 leased, provider pool 96/128, leases 7 claimed')
  const uncounted = { ...claims, providerPool: { target: 128, ready: undefined, countedMsAgo: undefined } }
  assert.match(describePool(uncounted).join(', '), 'provider pool –/128')
})

test('a pool that cannot have its source says why, in the line and at the end', () => {
  const refused = { ...pool, sourceError: { tag: 'no-forks', message: 'the account has no forks' } }
  assert.match(describePool(refused).join(', '), 'source create: the account has no forks')
  assert.is(
    renderPool(refused),
    `sandboxes: 8 made, created anew, 0 creates failed, 0 will not die
not from where they were asked for: the account has no forks`,
  )
})

test.run()

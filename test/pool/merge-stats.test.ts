import * as assert from 'uvu/assert'
import { mergeStats } from '../../src/pool/merge-stats.ts'
import type { PoolStats } from '../../src/pool/stats.ts'
import { suite } from '../support/suite.ts'

const test = suite('figures of several pools')

const stats: PoolStats = {
  strategy: 'prewarm',
  source: 'fork',
  target: 1,
  creating: 2,
  ready: 3,
  leased: 4,
  deleting: 5,
  quarantined: 6,
  parents: { kept: 7, forking: 8 },
  waiting: 9,
  created: 40,
  gone: 13,
  createFailures: 14,
  leases: { hit: 15, cold: 16, claim: 17, fork: 18 },
  breaker: undefined,
}

test('counts add up, and the first that has something to say is heard', () => {
  const breaker = { tag: 'pool-broken', message: 'creates fail' }
  const sourceError = { tag: 'no-forks', message: 'there are none' }
  const both = mergeStats([stats, { ...stats, breaker, sourceError }], { strategy: 'cold', source: 'create' })
  assert.equal(both, {
    ...stats,
    sourceError,
    target: 2,
    creating: 4,
    ready: 6,
    leased: 8,
    deleting: 10,
    quarantined: 12,
    parents: { kept: 14, forking: 16 },
    waiting: 18,
    created: 80,
    gone: 26,
    createFailures: 28,
    leases: { hit: 30, cold: 32, claim: 34, fork: 36 },
    breaker,
  })
})

test('of none there is nothing but what was asked for', () => {
  const none = mergeStats([], { strategy: 'cold', source: 'create' })
  assert.is(none.source, 'create')
  assert.is(none.created + none.leased + none.leases.cold, 0)
})

test.run()

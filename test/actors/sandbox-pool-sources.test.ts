import * as assert from 'uvu/assert'
import type { LeaseReply } from '../../actors/messages.ts'
import { type ErrorData, TroupeError } from '../../src/errors.ts'
import { makeTokenBucket } from '../../src/runtimes/token-bucket.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import { FakeProviderPool, FakeRuntime } from './fake-runtime.ts'
import { withPool } from './pool-scene.ts'

const test = suite('sandbox-pool: sources')

const kindOf = (reply: LeaseReply): string => (reply.type === 'leased' ? reply.kind : reply.error.tag)

const forking = { pool: { strategy: 'cold', size: 0, source: { type: 'fork', parents: 2 } }, maxSandboxes: 8 } as const
const pooled = { pool: { strategy: 'cold', size: 0, source: { type: 'provider-pool', size: 4 } } } as const

function forkingRuntime(): FakeRuntime {
  const runtime = new FakeRuntime()
  runtime.forks = true
  return runtime
}

function pooledRuntime() {
  const runtime = new FakeRuntime()
  const providerPool = new FakeProviderPool()
  runtime.providerPool = providerPool
  runtime.origin = 'claim'
  return { runtime, providerPool }
}

test('forks come from parents that are kept, and everything is gone after a drain', () =>
  withPool(
    forking,
    async ({ drain, lease, pool, runtime, stats }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      const parents = runtime.requests.map(({ id }) => id)
      assert.is(parents.length, 2)
      assert.equal((await Promise.all([lease(), lease(), lease()])).map(kindOf), ['fork', 'fork', 'fork'])
      for (const { parent } of runtime.requests.slice(2)) assert.ok(parent !== undefined && parents.includes(parent))
      const { parents: figures, created, leased, source } = await stats()
      assert.equal(
        { figures, created, leased, source },
        { figures: { kept: 2, forking: 0 }, created: 5, leased: 3, source: 'fork' },
      )
      assert.equal(await drain(), { quarantined: [] })
      assert.is(runtime.existing.size, 0)
    },
    forkingRuntime(),
  ))

test('a sandbox that may be forked while it is still being made bears the next', () =>
  withPool(
    forking,
    async ({ lease, pool, runtime, stats }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      runtime.immediate = false
      const replies = [lease(), lease(), lease(), lease()]
      await settle()
      assert.is(runtime.requests.length, 4, 'both parents bear one, two requests wait')
      const child = runtime.requests[2]
      child?.onForkable?.()
      await settle()
      assert.is(runtime.requests.length, 6, 'the child bears one, and so does its parent again')
      assert.ok(runtime.requests.slice(4).some(({ parent }) => parent === child?.id))
      assert.is((await stats()).parents.forking, 3)
      runtime.immediate = true
      runtime.finish()
      assert.equal((await Promise.all(replies)).map(kindOf), Array(4).fill('fork'))
    },
    forkingRuntime(),
  ))

test('auto forks where that works, and where it does not, goes on with creates without a word', async () => {
  const auto = { pool: { strategy: 'cold', size: 0, source: { type: 'auto' } }, maxSandboxes: 8 } as const
  await withPool(auto, async ({ lease, stats }) => {
    assert.is(kindOf(await lease()), 'cold')
    assert.is((await stats()).source, 'create')
  })
  await withPool(
    auto,
    async ({ lease, pool, reports, runtime, stats }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      assert.is((await stats()).source, 'fork')
      runtime.forkFailing = new TroupeError({ tag: 'fork-unsupported', message: 'not in this region' })
      assert.is(kindOf(await lease()), 'cold')
      assert.equal(reports, [])
      const { source, sourceError } = await stats()
      assert.equal([source, sourceError?.tag], ['create', 'forks-unsupported'])
    },
    forkingRuntime(),
  )
})

test("the provider's pool is held, counted every two seconds, and let go of with the drain", () => {
  const { runtime, providerPool } = pooledRuntime()
  return withPool(
    pooled,
    async ({ clock, drain, lease, pool, stats }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      assert.equal(providerPool.calls, ['hold 4', 'ready'])
      providerPool.members = 3
      await clock.advance(2_000)
      assert.equal((await stats()).providerPool, { target: 4, ready: 3, countedMsAgo: 0 })
      providerPool.uncountable = true
      await clock.advance(3_000)
      assert.equal((await stats()).providerPool, { target: 4, ready: 3, countedMsAgo: 3_000 })
      assert.is(kindOf(await lease()), 'claim')
      assert.equal(await drain(), { quarantined: [] })
      assert.is(providerPool.calls.at(-1), 'drop')
      assert.is(providerPool.members, 0)
    },
    runtime,
  )
})

test('a pool that the provider refuses, or will not let go of, is reported; the drain tells of the latter', async () => {
  const refused = pooledRuntime()
  refused.providerPool.refusing = new TroupeError({ tag: 'pool-conflict', message: 'somebody alive holds it' })
  await withPool(
    pooled,
    async ({ drain, lease, pool, reports, stats }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      assert.is((await lease()).type, 'leased')
      assert.equal(
        reports.map(report => report.tag),
        ['provider-pool-refused'],
      )
      assert.is((await stats()).source, 'create')
      assert.equal(await drain(), { quarantined: [] })
      assert.not(refused.providerPool.calls.includes('drop'))
    },
    refused.runtime,
  )
  const left = pooledRuntime()
  left.providerPool.undroppable = true
  await withPool(
    pooled,
    async ({ drain, pool, reports }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      assert.match((await drain()).providerPool?.message ?? '', /the provider says no/)
      assert.is(reports[0]?.tag, 'provider-pool-left')
      left.providerPool.undroppable = false
    },
    left.runtime,
  )
})

test("a pool that is stopped without a drain lets go of the provider's", async () => {
  const { runtime, providerPool } = pooledRuntime()
  await withPool(
    pooled,
    async ({ pool, stop }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      await stop()
      assert.is(providerPool.calls.at(-1), 'drop')
    },
    runtime,
  )
})

test("creates and forks draw on the account's bucket where the runtime has one", () => {
  const runtime = forkingRuntime()
  runtime.creates = makeTokenBucket({ perSecond: 1, burst: 3 })
  return withPool(
    forking,
    async ({ clock, lease, pool }) => {
      pool.tell({ type: 'demand', remaining: 20 })
      await settle()
      const replies = [lease(), lease()]
      await settle()
      assert.is(runtime.requests.length, 3, 'two parents and one fork')
      await clock.advance(1_000)
      assert.is(runtime.requests.length, 4)
      assert.equal((await Promise.all(replies)).map(kindOf), ['fork', 'fork'])
    },
    runtime,
  )
})

const why: ErrorData = { tag: 'sandbox-lost', message: 'killed at 1 GiB' }

test('why a leased sandbox was lost is what was told of it, even a moment later', () =>
  withPool({}, async ({ clock, lease, runtime, whyLost }) => {
    const [early, late] = [await lease(), await lease()]
    runtime.requests[0]?.onLost?.(why)
    await settle()
    assert.equal(await whyLost(early), why)
    const asked = [whyLost(late), whyLost(late)]
    await clock.advance(500)
    runtime.requests[1]?.onLost?.(why)
    assert.equal(await Promise.all(asked), [why, why])
  }))

test('where nothing is told, the runtime is asked, once for all, and no longer than the asker waits', () => {
  const runtime = new FakeRuntime()
  let asked = 0
  let answer: Promise<ErrorData | undefined> = Promise.resolve(why)
  runtime.diagnose = () => {
    asked += 1
    return answer
  }
  return withPool(
    {},
    async ({ clock, lease, pool, whyLost }) => {
      const reply = await lease()
      assert.equal(await Promise.all([whyLost(reply), whyLost(reply)]), [why, why])
      assert.is(asked, 1)
      answer = new Promise(() => {})
      const waiting = whyLost(reply)
      await clock.advance(2_999)
      assert.is(await waiting, undefined)
      pool.tell({ type: 'release', leaseId: reply.leaseId, sessionEnded: false })
      await settle()
      assert.is(await whyLost(reply), undefined)
      assert.is(asked, 2)
    },
    runtime,
  )
})

test('a runtime that knows nothing keeps nobody waiting for long', () =>
  withPool({}, async ({ clock, lease, whyLost }) => {
    const waiting = whyLost(await lease())
    await clock.advance(1_000)
    assert.is(await waiting, undefined)
  }))

test.run()

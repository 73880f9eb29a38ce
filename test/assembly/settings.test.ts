import * as assert from 'uvu/assert'
import { toEngineSettings, toProvisionPlan } from '../../src/assembly/settings.ts'
import { TroupeError } from '../../src/errors.ts'
import type { EngineOptions, PoolOptions } from '../../src/job/options.ts'
import { FakeProviderPool, FakeRuntime } from '../actors/fake-runtime.ts'
import { suite } from '../support/suite.ts'

const test = suite('engine settings: pools')

const plain = new FakeRuntime()
const able = new FakeRuntime()
able.forks = true
able.providerPool = new FakeProviderPool()

const settings = (pool: Partial<PoolOptions>, runtime = able, more: Partial<EngineOptions> = {}) =>
  toEngineSettings({ runtime, maxConcurrent: 32, pool: { strategy: 'cold', size: 0, ...pool }, ...more })

function problems(pool: Partial<PoolOptions>, runtime = able): string {
  try {
    settings(pool, runtime)
  } catch (error) {
    assert.instance(error, TroupeError)
    if (error instanceof TroupeError && error.tag === 'bad-option') return error.message
    throw error
  }
  return ''
}

test('the limit leaves room for what is prewarmed and for the parents that are kept', () => {
  assert.is(settings({}).pool.maxSandboxes, 32)
  assert.is(settings({ strategy: 'prewarm', size: 8 }).pool.maxSandboxes, 40)
  assert.is(settings({ source: { type: 'fork' } }).pool.maxSandboxes, 36)
  assert.is(settings({ source: { type: 'fork', parents: 9 } }).pool.maxSandboxes, 41)
  assert.is(settings({ source: { type: 'auto' } }).pool.maxSandboxes, 36)
  assert.is(settings({ source: { type: 'auto' } }, plain).pool.maxSandboxes, 32)
  assert.is(settings({ source: { type: 'fork' }, maxSandboxes: 7 }).pool.maxSandboxes, 7)
})

test("the plan for a preflight counts the provider's pool, as wide as the pool or the concurrency where nobody said", () => {
  assert.equal(toProvisionPlan(settings({})), { sandboxes: 32, providerPool: false })
  assert.equal(toProvisionPlan(settings({ source: { type: 'provider-pool' } })), { sandboxes: 64, providerPool: true })
  assert.equal(toProvisionPlan(settings({ source: { type: 'provider-pool', size: 5 } })), {
    sandboxes: 37,
    providerPool: true,
  })
  assert.equal(toProvisionPlan(settings({ strategy: 'prewarm', size: 8, source: { type: 'provider-pool' } })), {
    sandboxes: 48,
    providerPool: true,
  })
})

test('a source that the runtime does not have is refused, and what it has is named', () => {
  assert.match(
    problems({ source: { type: 'fork' } }, plain),
    /pool\.source is fork, but the fake runtime offers create, auto/,
  )
  assert.match(
    problems({ source: { type: 'provider-pool' } }, plain),
    /provider-pool, but the fake runtime offers create/,
  )
  assert.is(problems({ source: { type: 'auto' } }, plain), '')
  assert.is(problems({ source: { type: 'fork' } }), '')
})

test('numbers that make no sense are refused', () => {
  assert.match(problems({ source: { type: 'fork', parents: 0 } }), /parents is 0/)
  assert.match(problems({ source: { type: 'provider-pool', size: 0 } }), /size is 0/)
  assert.match(problems({ source: { type: 'fork', parents: 4 }, maxSandboxes: 4 }), /no room beside the 4 parents/)
})

test.run()

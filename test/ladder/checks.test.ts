import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { checkStrategies, preflightLadder } from '../../src/ladder/check-strategies.ts'
import { toPoolOptions } from '../../src/ladder/client/pool-options.ts'
import { STRATEGIES } from '../../src/ladder/level.ts'
import { checkDescriptors } from '../../src/ladder/limits.ts'
import type { ProvisionPlan, Runtime } from '../../src/runtimes/runtime.ts'
import { suite } from '../support/suite.ts'

const test = suite('checks before a ladder')

const thrown = (work: () => void): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}

test('a level that needs more open files than there may be is named, with what would do', () => {
  const error = thrown(() => checkDescriptors([1, 8, 1_024], 'local', 1_024))
  assert.ok(hasTag(error, 'ladder-descriptors'))
  assert.match(error.message, /level 1024 .* 3456 open files .* may have 1024/)
  assert.match(error.message, /ulimit -n 3456.* above 213/)
  checkDescriptors([1, 8, 213], 'local', 1_024)
})

test('emulated sandboxes need more of them than ours', () => {
  checkDescriptors([128], 'local', 1_024)
  assert.ok(
    hasTag(
      thrown(() => checkDescriptors([128], 'daytona', 1_024)),
      'ladder-descriptors',
    ),
  )
})

test('a runtime is asked for what it cannot do by name only', () => {
  const fork = thrown(() => checkStrategies(['cold', 'fork'], { name: 'local' }))
  assert.ok(hasTag(fork, 'ladder-strategy-impossible'))
  assert.match(fork.message, /local runtime cannot do fork/)
  const pool = thrown(() => checkStrategies(['provider-pool'], { name: 'local', forks: true }))
  assert.match(String(pool), /cannot do provider-pool/)
  checkStrategies(['cold', 'prewarm'], { name: 'local' })
})

function makeRuntime(plans: (ProvisionPlan | undefined)[]): Runtime {
  const unused = () => Promise.reject(new Error('nothing is to be made'))
  return {
    name: 'planned',
    forks: true,
    providerPool: { hold: unused, ready: unused, drop: unused },
    preflight: async plan => void plans.push(plan),
    provision: unused,
    close: async () => {},
  }
}

test('the account is asked for the widest level and what the other strategies keep beside it', async () => {
  const plans: (ProvisionPlan | undefined)[] = []
  await preflightLadder([1, 64], STRATEGIES, makeRuntime(plans))
  await preflightLadder([1, 64], ['cold'], makeRuntime(plans))
  assert.equal(plans, [
    { sandboxes: 64 + 4 + 64 + 4, providerPool: true },
    { sandboxes: 64, providerPool: false },
  ])
})

test('each strategy is measured alone: nothing is held ready but what it is about', () => {
  const at = (strategy: string, more = {}) => toPoolOptions({ strategy, work: 'infra', width: 16, ...more })
  assert.equal(at('cold'), { strategy: 'cold', size: 0, source: { type: 'create' }, maxSandboxes: 16 })
  assert.equal(at('prewarm', { size: 24 }).maxSandboxes, 24)
  assert.equal(at('fork'), { strategy: 'cold', size: 0, source: { type: 'fork', parents: 4 }, maxSandboxes: 20 })
  assert.equal(at('fork', { parents: 99 }).source, { type: 'fork', parents: 16 })
  assert.equal(at('provider-pool', { size: 4 }).source, { type: 'provider-pool', size: 4 })
  assert.is(at('prewarm', { maxSandboxes: 32 }).maxSandboxes, 32)
  assert.ok(
    hasTag(
      thrown(() => at('tepid')),
      'ladder-strategy',
    ),
  )
})

test.run()

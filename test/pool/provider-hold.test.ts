import * as assert from 'uvu/assert'
import { makeProviderHold } from '../../src/pool/provider-hold.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('pool: hold of a provider pool')

test('a count under way when the pool is let go of is waited for no longer, and leaves no timer', async () => {
  const clock = new VirtualClock()
  const hold = makeProviderHold(
    { hold: async () => {}, ready: () => new Promise(() => {}), drop: async () => {} },
    clock,
  )
  await hold.hold(1)
  const counted = assertRejects(hold.ready(), 'provider-pool-timeout')
  await settle()
  assert.is(clock.pending, 1)
  await hold.drop()
  await counted
  assert.is(clock.pending, 0)
})

test.run()

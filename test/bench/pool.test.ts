import * as assert from 'uvu/assert'
import { openPoolActor } from '../../bench/pool/actor.ts'
import { makeTurner } from '../../bench/pool/turner.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench pool')

const EVENTS_A_LEASE = 4

for (const [standing, kind] of [
  ['shelf', 'hit'],
  ['queue', 'cold'],
] as const)
  test(`${standing}: each turn is one lease and four events, and the pool stands as before`, () => {
    const turner = makeTurner(64, standing)
    const count = () => ({ events: turner.events, leases: turner.leases[kind] })
    const before = count()
    turner.turn(100)
    const once = count()
    turner.turn(200)
    const thrice = count()
    assert.is(once.leases - before.leases, 100)
    assert.is(thrice.leases - once.leases, 200)
    assert.is(once.events - before.events, 100 * EVENTS_A_LEASE)
    assert.is(thrice.events - once.events, 200 * EVENTS_A_LEASE)
    assert.is(turner.sandboxes, 64)
    assert.is(turner.waiting, standing === 'queue' ? 64 : 0)
  })

test('the actor gives what is on its shelf, and takes all of it back', async () => {
  const actor = await openPoolActor(4)
  const { kind, tookMs } = await actor.cycle()
  assert.is(kind, 'hit')
  assert.ok(tookMs >= 0)
  const { leases } = await actor.stats()
  assert.is(leases.hit, 1)
  await actor.close()
})

test.run()

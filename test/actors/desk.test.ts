import * as assert from 'uvu/assert'
import type { ReapOwners } from '../../actors/cluster-messages.ts'
import { type DeskPorts, desk } from '../../actors/desk.ts'
import { hasTag } from '../../src/errors.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('desk')

const QUESTION: ReapOwners = { type: 'reap-owners', owners: ['one', 'other'] }

function makeDesk(reap: DeskPorts['reap']) {
  const clock = new VirtualClock()
  const system = makeSystem({ node: 'worker', clock, encodeLocal: true })
  const failures: unknown[] = []
  const never = () => new Promise<never>(() => {})
  const ref = system.spawn(
    desk({
      reap,
      cancel: never,
      end: never,
      live: never,
      poolStats: never,
      expect() {},
      hold() {},
      onFailed: error => void failures.push(error),
    }),
  )
  return { clock, system, failures, asked: system.ask(ref, QUESTION, 1_000) }
}

test('what was done is answered', async () => {
  const { system, asked, failures } = makeDesk(async owners => owners.length)
  await settle()
  assert.is(await asked, 2)
  assert.equal(failures, [])
  await system.stop()
})

test('what could not be done is told at the worker, and not answered', async () => {
  const refusal = new Error('the provider refuses')
  const { clock, system, asked, failures } = makeDesk(async () => {
    throw refusal
  })
  const answer = asked.catch(error => error)
  await settle()
  assert.equal(failures, [refusal])
  await clock.advance(1_000)
  assert.ok(hasTag(await answer, 'ask-timeout'))
  await system.stop()
})

test.run()

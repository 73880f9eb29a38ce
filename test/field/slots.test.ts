/** Who holds the places in which rollouts run, and for how long. */
import * as assert from 'uvu/assert'
import type { CancelAll } from '../../actors/messages.ts'
import type { Agent } from '../../src/agents/agent.ts'
import { DEFAULT_DEADLINES } from '../../src/rollout/deadlines.ts'
import { makeScene, plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'

const test = suite('places for rollouts')

/** An agent that stays in each rollout until it is let go, or cut. */
function heldAgent() {
  const waiting: (() => void)[] = []
  const agent: Agent = {
    name: 'held',
    run: ({ signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        waiting.push(() => resolve({ answer: 'x', stop: 'done' }))
      }),
  }
  return { agent, waiting }
}

test('one member that takes its time holds its own place, and not those of its siblings', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent, maxConcurrent: 4 })
  scene.addShard('a')
  scene.run(plans(4, 4))
  await settle(50)
  assert.is(waiting.length, 4)
  const slow = waiting.splice(0, 1)
  for (let round = 0; round < 100 && waiting.length > 0; round += 1) {
    waiting.shift()?.()
    await settle(10)
  }
  assert.equal([scene.groups.length, slow.length], [3, 1], 'every other group ran to its end')
  await scene.clock.advance(DEFAULT_DEADLINES.agent)
  await settle(50)
  assert.is(scene.groups.length, 4)
  const late = scene.groups.flatMap(({ runs }) => runs).filter(({ stopReason }) => stopReason === 'deadline')
  assert.equal(
    late.map(({ groupId, outcome, reward }) => [groupId, outcome, reward]),
    [['g0', 'agent-error', 1]],
    'cut at its deadline, and graded on what it left',
  )
  assert.is(scene.leased(), 0)
  await scene.system.stop()
})

test('after a stop for want of room all places are taken again, not one', async () => {
  const { agent, waiting } = heldAgent()
  let full = false
  const scene = makeScene({ agent, maxConcurrent: 6, isFull: () => full })
  scene.addShard('a')
  scene.run(plans(12, 2))
  await settle(50)
  assert.is(waiting.length, 6)
  full = true
  for (const go of waiting.splice(0)) go()
  await settle(50)
  assert.equal([waiting.length, scene.groups.length], [0, 3])
  full = false
  scene.supervisor.tell({ type: 'room' })
  await settle(50)
  assert.is(waiting.length, 6)
  for (const go of waiting) go()
  await scene.system.stop()
})

test('after a cancel, too', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent, maxConcurrent: 6 })
  scene.addShard('a')
  scene.run(plans(6, 2))
  await settle(50)
  const question: CancelAll = { type: 'cancel-all' }
  const asked = scene.system.ask(scene.supervisor, question, 1_000)
  await settle(50)
  await asked
  waiting.length = 0
  scene.run(plans(6, 2))
  await settle(50)
  assert.is(waiting.length, 6)
  await scene.system.stop()
})

test.run()

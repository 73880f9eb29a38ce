import * as assert from 'uvu/assert'
import type { CancelAll } from '../../actors/messages.ts'
import type { Agent } from '../../src/agents/agent.ts'
import { TroupeError } from '../../src/errors.ts'
import { makeScene, plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'

const test = suite('supervisor and rollout groups')

const quick: Agent = { name: 'quick', run: async () => ({ answer: 'x', stop: 'done' }) }

/** An agent that stays in each rollout until it is let go. */
function heldAgent() {
  const waiting: (() => void)[] = []
  const agent: Agent = {
    name: 'held',
    run: () => new Promise(resolve => waiting.push(() => resolve({ answer: 'x', stop: 'done' }))),
  }
  return { agent, waiting }
}

test('every planned group comes out whole, once, in member order', async () => {
  const scene = makeScene({ agent: quick })
  scene.addShard('a')
  scene.addShard('b')
  scene.run(plans(16, 8))
  await settle(100)
  assert.is(scene.groups.length, 16)
  assert.is(new Set(scene.groups.map(group => group.groupId)).size, 16)
  for (const group of scene.groups)
    assert.equal(
      group.runs.map(run => run.member),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
  assert.is(scene.leased(), 0)
  await scene.system.stop()
})

test('credits bound the rollouts in flight to one group over the limit at most', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent, maxConcurrent: 10 })
  scene.addShard('a')
  scene.run(plans(6, 4))
  await settle(50)
  assert.is(waiting.length, 12)
  for (let round = 0; round < 60; round += 1) {
    waiting.shift()?.()
    await settle(5)
  }
  assert.is(scene.groups.length, 6)
  assert.ok(scene.mostLeased() <= 13, `${scene.mostLeased()} leased at once`)
  await scene.system.stop()
})

test('a full consumer stops new groups until it says there is room', async () => {
  let full = true
  const scene = makeScene({ agent: quick, isFull: () => full })
  scene.addShard('a')
  scene.run(plans(3, 2))
  await settle(20)
  assert.is(scene.groups.length, 0)
  full = false
  scene.supervisor.tell({ type: 'room' })
  await settle(50)
  assert.is(scene.groups.length, 3)
  await scene.system.stop()
})

test('the groups of a lost thread go on elsewhere, without the members that were durable', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent })
  scene.addShard('a')
  scene.run(plans(1, 4))
  await settle(20)
  waiting.shift()?.()
  await settle(20)
  assert.is(scene.journal.size, 1)
  scene.loseShard('a')
  waiting.length = 0
  scene.addShard('b')
  await settle(20)
  assert.is(waiting.length, 3, 'only the three unfinished members run again')
  for (const go of waiting) go()
  await settle(50)
  assert.is(scene.groups.length, 1)
  assert.is(scene.groups[0]?.runs.length, 4)
  await scene.system.stop()
})

test('a group that keeps taking its thread down is given up alone: those beside it are not blamed', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent })
  scene.addShard('a')
  scene.run(plans(3, 1))
  await settle(20)
  assert.is(waiting.length, 3)
  scene.loseShard('a')
  scene.addShard('b')
  await settle(20)
  scene.loseShard('b')
  waiting.length = 0
  scene.addShard('c')
  await settle(20)
  assert.is(waiting.length, 1, 'each suspect has a thread to itself')
  scene.loseShard('c')
  waiting.length = 0
  scene.addShard('d')
  await settle(20)
  assert.is(scene.lost.length, 1)
  for (let round = 0; round < 2; round += 1) {
    assert.is(waiting.length, 1)
    waiting.shift()?.()
    await settle(20)
  }
  assert.is(scene.groups.length, 2)
  assert.equal(
    scene.groups.map(group => group.runs[0]?.reward),
    [1, 1],
  )
  await scene.system.stop()
})

test('a transient loss is tried again on a fresh sandbox, siblings kept, and no more often than allowed', async () => {
  let starts = 0
  const scene = makeScene({
    agent: quick,
    retries: 2,
    peer: {
      start: async () => {
        starts += 1
        if (starts <= 2) throw new TroupeError({ tag: 'session-lost', message: 'cut' })
      },
    },
  })
  scene.addShard('a')
  scene.run(plans(1, 1))
  await settle(20)
  await scene.clock.advance(5_000)
  await settle(20)
  const [run] = scene.groups[0]?.runs ?? []
  assert.equal([run?.attempt, run?.reward, starts], [3, 1, 3])
  assert.is(scene.leased(), 0)
  await scene.system.stop()
})

test('a group strategy of drop stops paying for the siblings of a lost member', async () => {
  const { agent } = heldAgent()
  let starts = 0
  const scene = makeScene({
    agent,
    strategy: { type: 'drop' },
    peer: {
      start: async () => {
        starts += 1
        if (starts === 1) throw new TroupeError({ tag: 'remote-error', message: 'the template threw' })
      },
    },
  })
  scene.addShard('a')
  scene.run(plans(1, 4))
  await settle(60)
  assert.is(scene.groups[0]?.end.type, 'dropped')
  assert.is(scene.leased(), 0)
  await scene.system.stop()
})

test('a run that can produce nothing says so and stops', async () => {
  const scene = makeScene({
    agent: quick,
    maxConcurrent: 1,
    deadGroupLimit: 3,
    peer: { start: () => Promise.reject(new TroupeError({ tag: 'remote-error', message: 'pytest is missing' })) },
  })
  scene.addShard('a')
  scene.run(plans(20, 1))
  await settle(200)
  assert.is(scene.failures[0]?.tag, 'dead-groups')
  assert.match(scene.failures[0]?.message ?? '', /pytest is missing/)
  assert.ok(scene.groups.length < 6, `${scene.groups.length} groups were still run`)
  assert.ok(scene.groups.every(group => group.runs.every(run => run.reward === null)))
  await scene.system.stop()
})

test('a journal that takes no more stops the run at once: nothing is run for it in vain, and no group is called lost', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent })
  scene.addShard('a')
  scene.run(plans(3, 2))
  await settle(20)
  const [group] = plans(3, 2)
  if (group === undefined) throw new Error('no plan')
  const error = { tag: 'journal-disk-full', message: 'no room' }
  scene.supervisor.tell({ type: 'group-crashed', groupId: group.plan.groupId, error })
  await settle(50)
  assert.equal([scene.failures, scene.groups, scene.lost, scene.leased()], [[error], [], [], 0])
  assert.is(waiting.length, 6, 'nothing was begun again')
  await scene.system.stop()
})

test('a cancel gives every lease back, keeps what is durable, and the engine can be used again', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent, maxConcurrent: 4 })
  scene.addShard('a')
  scene.run(plans(5, 2))
  await settle(20)
  waiting.shift()?.()
  await settle(20)
  const question: CancelAll = { type: 'cancel-all' }
  const asked = scene.system.ask(scene.supervisor, question, 1_000)
  await settle(50)
  assert.is((await asked).type, 'all-cancelled')
  assert.equal([scene.leased(), scene.groups.length, scene.journal.size], [0, 0, 1])
  waiting.length = 0
  scene.run(plans(5, 2).slice(4))
  await settle(50)
  for (const go of waiting) go()
  await settle(50)
  assert.is(scene.groups.length, 1)
  await scene.system.stop()
})

test.run()

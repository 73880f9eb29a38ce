import * as assert from 'uvu/assert'
import type { CancelAll, CollectorMessage, PoolMessage, ShardMessage } from '../../actors/messages.ts'
import { supervisor } from '../../actors/supervisor.ts'
import type { Agent } from '../../src/agents/agent.ts'
import { TroupeError } from '../../src/errors.ts'
import { toGroupId } from '../../src/ids.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { lostEnd, toRunHeader } from '../../src/rollout/header.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import type { PlannedGroup } from '../../src/taskset/plan.ts'
import { makeScene, plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('groups that are found again')

/** An agent that stays in each rollout until it is let go. */
function heldAgent() {
  const waiting: (() => void)[] = []
  const agent: Agent = {
    name: 'held',
    run: () => new Promise(resolve => waiting.push(() => resolve({ answer: 'x', stop: 'done' }))),
  }
  return { agent, waiting }
}

/** A group of which all members but the last were finished by an earlier process. */
function allButLast({ plan }: PlannedGroup): PlannedGroup {
  const durable = plan.members.slice(0, -1).map(member => {
    const end = { ...lostEnd(0, { tag: 'x', message: 'x' }), outcome: 'graded' as const, reward: 1 }
    const trajectory = packTrajectory(end.trajectory)
    const how = { attempt: 1, agent: 'x', bytes: trajectory.byteLength }
    return { header: toRunHeader(plan, member, how, end), trajectory }
  })
  return { plan, durable }
}

/** A supervisor with one shard and a collector that only hear what they are told. */
function makeSilentScene() {
  const system = makeSystem({ node: 'main', clock: new VirtualClock(), encodeLocal: true })
  const toCollector: string[] = []
  const toShard: string[] = []
  const hears = <Message extends { readonly type: string }>(name: string, heard: string[]): Actor<null, Message> => ({
    name,
    initial: () => null,
    receive(state, message) {
      heard.push(message.type)
      return state
    },
  })
  let looked = 0
  const ref = system.spawn(
    supervisor({
      pool: system.spawn(hears<PoolMessage>('pool', [])),
      collector: system.spawn(hears<CollectorMessage>('collector', toCollector)),
      durableRuns: async () => {
        looked += 1
        return []
      },
      recordLoss: async () => {},
      isFull: () => false,
      onFailed() {},
      maxConcurrent: 8,
      deadGroupLimit: 8,
    }),
  )
  ref.tell({ type: 'shard-up', node: 'a', root: system.spawn(hears<ShardMessage>('shard', toShard)) })
  return { system, ref, toCollector, toShard, looked: () => looked }
}

test('members that are durable hold no credit and give none back', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent, maxConcurrent: 2 })
  scene.addShard('a')
  scene.run(plans(8, 4).map(allButLast))
  await settle(50)
  assert.is(waiting.length, 2, 'one member of each group is left, and two may be in flight')
  for (let round = 0; round < 8; round += 1) {
    waiting.shift()?.()
    await settle(20)
  }
  assert.is(scene.groups.length, 8)
  await scene.system.stop()
})

test('a group whose end is heard after the loss of its thread is not run again', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent })
  scene.addShard('a')
  const [group] = plans(1, 1)
  scene.run(group === undefined ? [] : [group])
  await settle(20)
  scene.loseShard('a')
  if (group !== undefined)
    scene.supervisor.tell({ type: 'group-over', groupId: group.plan.groupId, losses: 0, graded: 1 })
  scene.addShard('b')
  await settle(20)
  assert.is(waiting.length, 1, 'nobody runs it a second time')
  const question: CancelAll = { type: 'cancel-all' }
  assert.is((await scene.system.ask(scene.supervisor, question, 1_000)).type, 'all-cancelled')
  await scene.system.stop()
})

test('nor is one that waits in the queue again when its end is heard', async () => {
  const { agent, waiting } = heldAgent()
  const scene = makeScene({ agent })
  scene.addShard('a')
  const [group, other] = plans(2, 1)
  if (group === undefined || other === undefined) throw new Error('two groups were asked for')
  scene.run([group, other])
  await settle(20)
  scene.loseShard('a')
  await settle(20)
  scene.supervisor.tell({ type: 'group-over', groupId: group.plan.groupId, losses: 0, graded: 1 })
  scene.addShard('b')
  await settle(20)
  assert.is(waiting.length, 3, 'only the other one runs a second time')
  await scene.system.stop()
})

test('what a lost thread has told the collector is taken in before anybody looks for it', async () => {
  const { ref, system, toCollector, looked } = makeSilentScene()
  ref.tell({ type: 'run-groups', groups: plans(1, 1), agent: { kind: 'held', key: 'x' } })
  ref.tell({ type: 'shard-down', node: 'a', error: { tag: 'link-down', message: 'it died' } })
  await settle(20)
  assert.equal(toCollector, ['group-lost'])
  assert.is(looked(), 0)
  ref.tell({ type: 'group-lost-known', groupId: toGroupId('g0') })
  await settle(20)
  assert.is(looked(), 1)
  await system.stop()
})

test('a cancel waits until a group that is given up is over: written down, and out of the collector', async () => {
  const { agent } = heldAgent()
  let written = () => {}
  const scene = makeScene({
    agent,
    recordLoss: () =>
      new Promise(resolve => {
        written = resolve
      }),
  })
  scene.run(plans(1, 1))
  for (const node of ['a', 'b', 'c']) {
    scene.addShard(node)
    await settle(20)
    scene.loseShard(node)
    await settle(20)
  }
  let answered = false
  const question: CancelAll = { type: 'cancel-all' }
  const asked = scene.system.ask(scene.supervisor, question, 1_000).then(() => {
    answered = true
  })
  await settle(20)
  assert.is(answered, false)
  written()
  await settle(20)
  assert.is(answered, false)
  scene.supervisor.tell({ type: 'group-over', groupId: toGroupId('g0'), losses: 3, graded: 0 })
  await asked
  await scene.system.stop()
})

test('a cancel waits until the collector has let go of what was cancelled: nothing of it is counted later', async () => {
  const { ref, system, toCollector, toShard } = makeSilentScene()
  ref.tell({ type: 'run-groups', groups: plans(1, 1), agent: { kind: 'held', key: 'x' } })
  let answered = false
  const question: CancelAll = { type: 'cancel-all' }
  await settle(20)
  const asked = system.ask(ref, question, 1_000).then(() => {
    answered = true
  })
  ref.tell({ type: 'group-cancelled', groupId: toGroupId('g0') })
  await settle(20)
  assert.equal([toShard, toCollector, answered], [['start-group', 'cancel-groups'], ['group-left'], false])
  ref.tell({ type: 'group-left-known', groupId: toGroupId('g0') })
  await asked
  await system.stop()
})

test('a group that is dropped while a member waits for its retry still has its end', async () => {
  let starts = 0
  const scene = makeScene({
    agent: { name: 'quick', run: async () => ({ answer: 'x', stop: 'done' }) },
    strategy: { type: 'drop' },
    peer: {
      start: async () => {
        starts += 1
        // The first is worth a retry, the second is lost for good.
        throw new TroupeError({ tag: starts === 1 ? 'session-lost' : 'remote-error', message: 'no' })
      },
    },
  })
  scene.addShard('a')
  scene.run(plans(1, 2))
  await settle(50)
  await scene.clock.advance(5_000)
  await settle(20)
  assert.is(scene.groups.length, 1)
  assert.is(scene.groups[0]?.end.type, 'dropped')
  assert.equal(
    scene.groups[0]?.runs.map(run => run.reward),
    [null, null],
  )
  assert.is(starts, 2, 'the retry itself is not made')
  assert.is(scene.leased(), 0)
  await scene.system.stop()
})

test('a group that fails is looked for in the journal only when nothing of it can be written any more', async () => {
  const { agent, waiting } = heldAgent()
  let write = () => {}
  let failing = true
  const scene = makeScene({
    agent,
    putRun: async ({ member }) => {
      if (member === 0)
        await new Promise<void>(resolve => {
          write = resolve
        })
      else if (failing) throw new TroupeError({ tag: 'journal-unusable', message: 'no room' })
    },
  })
  scene.addShard('a')
  scene.run(plans(1, 2))
  await settle(20)
  for (const go of waiting.splice(0)) go()
  await settle(20)
  assert.is(waiting.length, 0, 'not started again while a member is being written')
  failing = false
  write()
  await settle(20)
  assert.is(waiting.length, 1, 'and then without that member')
  waiting.shift()?.()
  await settle(20)
  assert.equal(
    scene.groups[0]?.runs.map(run => run.reward),
    [1, 1],
  )
  await scene.system.stop()
})

test('what a failed group still has in hand is not written once somebody has looked into the journal', async () => {
  const { agent, waiting } = heldAgent()
  let sayGoodbye = () => {}
  let ends = 0
  let failing = true
  const scene = makeScene({
    agent,
    peer: {
      // The first member is graded, and waits for the goodbye of its session; nothing cuts that short but its deadline.
      end: () => (++ends === 1 ? new Promise(resolve => (sayGoodbye = () => resolve(true))) : Promise.resolve(true)),
    },
    putRun: async () => {
      if (failing) throw new TroupeError({ tag: 'journal-unusable', message: 'no room' })
    },
  })
  scene.addShard('a')
  scene.run(plans(1, 2))
  await settle(20)
  for (const go of waiting.splice(0)) go()
  await settle(20)
  assert.is(waiting.length, 2, 'both are being run again')
  failing = false
  sayGoodbye()
  await settle(20)
  assert.is(scene.journal.size, 0)
  for (const go of waiting.splice(0)) go()
  await settle(20)
  assert.equal([scene.journal.size, scene.groups.length, scene.groups[0]?.runs.length], [2, 1, 2])
  await scene.system.stop()
})

test.run()

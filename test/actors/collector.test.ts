import * as assert from 'uvu/assert'
import { collector } from '../../actors/collector.ts'
import type {
  CollectorMessage,
  PoolMessage,
  ShardMessage,
  StartGroup,
  SupervisorMessage,
} from '../../actors/messages.ts'
import { supervisor } from '../../actors/supervisor.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { Group } from '../../src/rollout/group.ts'
import { lostEnd, toRunHeader } from '../../src/rollout/header.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { makeConservation } from '../../src/stream/conservation.ts'
import { plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('collector')

/** What a group that was started so tells the collector: its runs, then its end. */
function tellAll({ plan, losses }: StartGroup, to: Ref<CollectorMessage>): void {
  for (const member of plan.members) {
    const end = { ...lostEnd(0, { tag: 'x', message: 'x' }), outcome: 'graded' as const, reward: 1 }
    const trajectory = packTrajectory(end.trajectory)
    const header = toRunHeader(plan, member, { attempt: 1, agent: 'x', bytes: trajectory.byteLength }, end)
    to.tell({ type: 'run-completed', header, trajectory })
  }
  to.tell({ type: 'group-ended', plan, end: { type: 'complete' }, losses })
}

/** Supervisor and collector, and shards of which the test says what they tell. `held` counts what the collector remembers. */
function makeScene(maxConcurrent: number) {
  const system = makeSystem({ node: 'main', clock: new VirtualClock(), encodeLocal: true })
  const groups: Group[] = []
  const told: string[] = []
  const starts: StartGroup[] = []
  let held = 0
  let mostHeld = 0
  let supervisorRef: Ref<SupervisorMessage>
  const actor = collector({
    supervisor: () => supervisorRef,
    conservation: makeConservation(),
    onRun: ({ runId }) => void told.push(runId),
    onGroup: group => void groups.push(group),
  })
  const watched: typeof actor = {
    ...actor,
    receive(state, message, context) {
      const next = actor.receive(state, message, context)
      held = next.waiting.size + next.over.size
      mostHeld = Math.max(mostHeld, held)
      return next
    },
  }
  const collectorRef = system.spawn(watched)
  const pool: Actor<null, PoolMessage> = { name: 'pool', initial: () => null, receive: state => state }
  supervisorRef = system.spawn(
    supervisor({
      pool: system.spawn(pool),
      collector: collectorRef,
      durableRuns: async () => [],
      recordLoss: async () => {},
      isFull: () => false,
      onFailed() {},
      maxConcurrent,
      deadGroupLimit: 8,
    }),
  )
  return {
    system,
    supervisor: supervisorRef,
    collector: collectorRef,
    groups,
    told,
    starts,
    held: () => held,
    mostHeld: () => mostHeld,
    /** `onStart` is what its groups do. */
    addShard(node: string, onStart: (start: StartGroup) => void = () => {}) {
      const shard: Actor<null, ShardMessage> = {
        name: node,
        initial: () => null,
        receive(state, message) {
          if (message.type === 'start-group') {
            starts.push(message)
            onStart(message)
          }
          return state
        },
      }
      supervisorRef.tell({ type: 'shard-up', node, root: system.spawn(shard) })
    },
    loseShard: (node: string) =>
      void supervisorRef.tell({ type: 'shard-down', node, error: { tag: 'link-down', message: `${node} died` } }),
    run: (count: number, size: number) =>
      void supervisorRef.tell({ type: 'run-groups', groups: plans(count, size), agent: { kind: 'held', key: 'x' } }),
  }
}

/** The one that was started `place`th. */
function startAt(starts: readonly StartGroup[], place: number): StartGroup {
  const start = starts[place]
  if (start === undefined) throw new Error(`${place} groups were started`)
  return start
}

test('remembers no more than what is in flight, however many groups have ended', async () => {
  const scene = makeScene(8)
  scene.addShard('a', start => tellAll(start, scene.collector))
  const count = 2_000
  scene.run(count, 2)
  for (let turn = 0; turn < 10_000 && scene.groups.length < count; turn += 1) await settle(1)
  await settle()
  assert.is(scene.groups.length, count)
  assert.is(scene.held(), 0, 'nothing is left')
  assert.ok(scene.mostHeld() <= 16, `${scene.mostHeld()} groups were remembered at once`)
  await scene.system.stop()
})

test('what is told again of a group before anybody could know of its end is counted once', async () => {
  const scene = makeScene(8)
  scene.addShard('a', start => {
    tellAll(start, scene.collector)
    tellAll({ ...start, losses: 1 }, scene.collector)
  })
  scene.run(3, 2)
  await settle(20)
  assert.equal([scene.groups.length, scene.told.length, scene.held()], [3, 6, 0])
  await scene.system.stop()
})

test('a group that ends in a lost thread is delivered once, also when it is being run again by then', async () => {
  const scene = makeScene(8)
  scene.addShard('a')
  scene.run(1, 2)
  await settle(20)
  scene.loseShard('a')
  scene.addShard('b')
  await settle(20)
  assert.equal(
    scene.starts.map(({ losses }) => losses),
    [0, 1],
  )
  tellAll(startAt(scene.starts, 0), scene.collector)
  await settle(20)
  assert.equal([scene.groups.length, scene.held()], [1, 1], 'whoever runs it again is still expected')
  tellAll(startAt(scene.starts, 1), scene.collector)
  await settle(20)
  assert.equal([scene.groups.length, scene.told.length, scene.held()], [1, 2, 0])
  await scene.system.stop()
})

test('one that is found again after a lost thread leaves nothing either', async () => {
  const scene = makeScene(8)
  scene.addShard('a')
  scene.run(1, 2)
  await settle(20)
  scene.loseShard('a')
  scene.addShard('b', start => tellAll(start, scene.collector))
  await settle(20)
  assert.equal([scene.groups.length, scene.held()], [1, 0])
  await scene.system.stop()
})

test('nor does one that was cancelled while it was run again for nothing', async () => {
  const scene = makeScene(8)
  scene.addShard('a')
  scene.run(1, 2)
  await settle(20)
  scene.loseShard('a')
  scene.addShard('b')
  await settle(20)
  tellAll(startAt(scene.starts, 0), scene.collector)
  await settle(20)
  assert.is(scene.held(), 1)
  scene.supervisor.tell({ type: 'group-cancelled', groupId: startAt(scene.starts, 1).plan.groupId })
  await settle(20)
  assert.equal([scene.groups.length, scene.held()], [1, 0])
  await scene.system.stop()
})

test.run()

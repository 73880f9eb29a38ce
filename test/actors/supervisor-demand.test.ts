import * as assert from 'uvu/assert'
import type {
  CancelAll,
  CollectorMessage,
  PoolMessage,
  ShardMessage,
  SupervisorMessage,
} from '../../actors/messages.ts'
import { type SupervisorPorts, supervisor } from '../../actors/supervisor.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { PlannedGroup } from '../../src/taskset/plan.ts'
import { workersWanted } from '../../src/telemetry/metrics/cluster-metrics.ts'
import { plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('supervisor: demand')

/** A supervisor with a shard that never ends anything, and what it tells the pool of what is to come. */
function makeDemandScene(
  given: Pick<Partial<SupervisorPorts>, 'isFull' | 'onCredits' | 'onStarted'> & {
    readonly maxConcurrent?: number
  } = {},
) {
  const system = makeSystem({ node: 'main', clock: new VirtualClock(), encodeLocal: true })
  const told: number[] = []
  const pool: Actor<null, PoolMessage> = {
    name: 'pool',
    initial: () => null,
    receive(state, message) {
      if (message.type === 'demand') told.push(message.remaining)
      return state
    },
  }
  const silent = { initial: () => null, receive: (state: null) => state }
  const collector: Actor<null, CollectorMessage> = { name: 'collector', ...silent }
  const shard: Actor<null, ShardMessage> = { name: 'shard', ...silent }
  const ref = system.spawn(
    supervisor({
      pool: system.spawn(pool),
      collector: system.spawn(collector),
      durableRuns: async () => [],
      recordLoss: async () => {},
      isFull: () => false,
      onFailed() {},
      maxConcurrent: 1_000,
      deadGroupLimit: 8,
      ...given,
    }),
  )
  const root = system.spawn(shard)
  ref.tell({ type: 'shard-up', node: 'a', root } satisfies SupervisorMessage)
  return {
    system,
    told,
    ref,
    run: (groups: number, size: number) =>
      ref.tell({ type: 'run-groups', groups: plans(groups, size), agent: { kind: 'held', key: 'agent' } }),
  }
}

test('what is expected is told with what has been handed in, and what is handed in counts down', async () => {
  const { system, told, ref, run } = makeDemandScene()
  run(2, 4)
  await settle()
  ref.tell({ type: 'expect', rollouts: 12 })
  await settle()
  run(2, 4)
  await settle()
  run(2, 4)
  await settle()
  // Of the first none was expected; the second is 8 of 12; of the last, 4 were.
  assert.equal(told, [8, 12, 12, 8])
  await system.stop()
})

test('what was expected is forgotten when everything is cancelled', async () => {
  const { system, told, ref } = makeDemandScene()
  ref.tell({ type: 'expect', rollouts: 12 })
  const question: CancelAll = { type: 'cancel-all' }
  await system.ask(ref, question, 1_000)
  assert.equal(told, [12, 0])
  await system.stop()
})

test('what is released asks for workers, up to the limit however few there are; behind a slow trainer it ends', async () => {
  let isFull = false
  let released = 0
  const started: PlannedGroup[] = []
  const { system, ref, run } = makeDemandScene({
    maxConcurrent: 24,
    isFull: () => isFull,
    onStarted: group => void started.push(group),
    onCredits(inUse) {
      released = inUse
    },
  })
  // One worker is there, and has four credits.
  const wanted = () => workersWanted({ released, maxConcurrent: 24, workers: 1, credits: 4 })
  const endAll = async () => {
    for (const { plan } of started.splice(0))
      for (const { runId } of plan.members) ref.tell({ type: 'run-over', groupId: plan.groupId, runId })
    await settle()
  }
  run(10, 4)
  await settle()
  assert.equal([released, wanted()], [24, 6], 'the sixteen beyond are not for now')
  isFull = true
  await endAll()
  assert.equal([released, wanted()], [0, 0], 'sixteen are planned, and wait for the trainer')
  isFull = false
  ref.tell({ type: 'room' })
  await settle()
  assert.equal([released, wanted()], [16, 4])
  await system.stop()
})

test.run()

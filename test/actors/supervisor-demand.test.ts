import * as assert from 'uvu/assert'
import type {
  CancelAll,
  CollectorMessage,
  PoolMessage,
  ShardMessage,
  SupervisorMessage,
} from '../../actors/messages.ts'
import { supervisor } from '../../actors/supervisor.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('supervisor: demand')

/** A supervisor with a shard that never ends anything, and what it tells the pool of what is to come. */
function makeDemandScene() {
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

test.run()

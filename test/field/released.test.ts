/** Whether what was handed on is let go of: a long job holds what waits, and not what it ever made. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { collector } from '../../actors/collector.ts'
import type { CollectorMessage, SupervisorMessage } from '../../actors/messages.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import type { Group } from '../../src/rollout/group.ts'
import { packTrajectory, toRun } from '../../src/rollout/pack.ts'
import {
  chunkGroups,
  makeConservation,
  makeGroupStream,
  makeWaitingBytes,
  processChunks,
} from '../../src/stream/index.ts'
import { makeGroupRecord, makeHeader, makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'

const test = suite('what was handed on')

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const GROUPS = 20

/** A group of two whose trajectories are unpacked only when they are read. */
function makeGroup(index: number): Group {
  const runs = [0, 1].map(member =>
    toRun(makeHeader({ index, member, bytes: 1_000 }), packTrajectory(makeTrajectory(4, 500, 200))),
  )
  return { ...makeGroupRecord({ index }), runs, bytes: 2_000 }
}

/** How many of them are still there once everything that nobody holds is gone. */
async function countKept(refs: readonly WeakRef<object>[]): Promise<number> {
  let kept = refs.length
  for (let round = 0; round < 20 && kept > 0; round += 1) {
    await settle(2)
    collectGarbage()
    kept = refs.filter(ref => ref.deref() !== undefined).length
  }
  return kept
}

test('a stream and its chunks keep no group that was worked on', async () => {
  const waiting = makeWaitingBytes(1_000_000)
  const { push, stream } = makeGroupStream({ waiting })
  const refs: WeakRef<object>[] = []
  let worked = 0
  const work = async (chunk: { readonly runs: number }) => {
    await settle(1)
    worked += chunk.runs
  }
  const subscription = stream
    .pipe(
      chunkGroups({ maxTrajectories: 4 }),
      processChunks(chunk => work({ runs: chunk.length })),
    )
    .subscribe()
  for (let index = 0; index < GROUPS; index += 1) refs.push(pushOne(push, index))
  await settle(200)
  // The last group waits in the open chunk for a next one.
  assert.ok(worked >= 2 * (GROUPS - 2), `${worked} runs worked on`)
  assert.ok((await countKept(refs)) <= 2)
  subscription.unsubscribe()
})

test('the collector keeps nothing of a group that it has handed on', async () => {
  const system = makeSystem({ node: 'main' })
  const refs: WeakRef<object>[] = []
  const listener = system.spawn<null, SupervisorMessage>({
    name: 'listener',
    initial: () => null,
    receive: state => state,
  })
  const ref = system.spawn(
    collector({
      supervisor: () => listener,
      conservation: makeConservation(),
      onRun() {},
      onGroup: group => void refs.push(new WeakRef(group), ...group.runs.map(run => new WeakRef(run))),
    }),
  )
  for (let index = 0; index < GROUPS; index += 1) {
    for (const message of toMessages(makeGroup(index))) ref.tell(message)
    await settle(2)
  }
  await settle(20)
  assert.is(refs.length, 3 * GROUPS)
  assert.is(await countKept(refs), 0)
  await system.stop()
})

/** In a frame of its own, so that nothing of the group lives on in that of the test. */
function pushOne(push: (group: Group) => void, index: number): WeakRef<object> {
  const group = makeGroup(index)
  push(group)
  return new WeakRef(group)
}

function toMessages({ runs, jobId, groupId, step, index, task, end }: Group): CollectorMessage[] {
  const members = runs.map(({ runId, member, seed }) => ({ runId, member, seed }))
  const completed = runs.map(
    (run): CollectorMessage => ({
      type: 'run-completed',
      header: makeHeader({ ...run }),
      trajectory: packTrajectory(makeTrajectory()),
    }),
  )
  return [...completed, { type: 'group-ended', plan: { jobId, groupId, step, index, task, members }, end, losses: 0 }]
}

test.run()

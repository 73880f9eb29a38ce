import * as assert from 'uvu/assert'
import type { CloseStep, OpenStep, TrainChunk, TrainerReply } from '../../actors/messages.ts'
import { trainer } from '../../actors/trainer.ts'
import { TroupeError } from '../../src/errors.ts'
import { type GroupId, toGroupId } from '../../src/ids.ts'
import type { JobRecords } from '../../src/job/records.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { toRun } from '../../src/rollout/pack.ts'
import { makeHeader } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { FakeService } from '../training/loop/fake-service.ts'
import { gate } from '../training/loop/scene.ts'

const test = suite('trainer')
const groupIds = Array.from({ length: 80 }, (_, index) => toGroupId(`group-${index}`))

/** The actor with a service, in a system in which every message goes through the codec. */
function makeScene(records: Partial<JobRecords> = {}) {
  const clock = new VirtualClock()
  const system = makeSystem({ node: 'main', clock, encodeLocal: true })
  const service = new FakeService()
  const kept = new Map<string, unknown>()
  const settled: string[] = []
  const ref = system.spawn(
    trainer({
      trainer: service.client(),
      records: {
        put: async (key, value) => void kept.set(key, value),
        list: async prefix => new Map([...kept].filter(([key]) => key.startsWith(prefix))),
        settle: async (groupId, to, reason) => void settled.push([groupId, to, reason].filter(Boolean).join(' ')),
        ...records,
      },
      runsOf: groupId => [0, 1].map(member => toRun(makeHeader({ groupId, member }), new Uint8Array(0))),
      loss: { lossFn: 'importance_sampling' },
      clock,
      callDeadlineMs: 60_000,
      settleMs: 1_000,
    }),
  )
  const open: OpenStep = { type: 'open-step', step: 0, optimSteps: 0 }
  const chunk = (...groups: GroupId[]): TrainChunk => ({ type: 'train-chunk', step: 0, groups, groupSize: 2 })
  const close = (groups: readonly GroupId[], dropped: CloseStep['dropped'] = []): CloseStep => ({
    type: 'close-step',
    step: 0,
    groups,
    dropped,
    optim: { learningRate: 0.1 },
    fullRateGroups: 0,
  })
  const ask = (question: OpenStep | TrainChunk | CloseStep): Promise<TrainerReply> =>
    system.ask<OpenStep | TrainChunk | CloseStep>(ref, question, 1_000_000)
  return { system, clock, service, kept, settled, open, chunk, close, ask }
}

const [a = toGroupId('a'), b = toGroupId('b'), c = toGroupId('c')] = groupIds

test('what is about to be sent is durable before it is sent, and its end before it is told', async () => {
  const { ask, chunk, kept, open, service, system } = makeScene()
  const key = 'training/steps/000000/call-0000'
  const seen: unknown[] = []
  service.around = async () => void seen.push(structuredClone(kept.get(key)))
  await ask(open)
  const reply = await ask(chunk(a, b))
  assert.equal(
    seen.map(record => Object(record).end),
    [{ type: 'sending' }, { type: 'sending' }],
  )
  assert.is(Object(kept.get(key)).end.type, 'over')
  assert.equal(reply.type === 'chunk-over' && [reply.consumed, reply.call, reply.loss], [[a, b], 0, -2])
  await system.stop()
})

test('one call is under way at a time, in the order they were asked for', async () => {
  const { ask, chunk, open, service, system } = makeScene()
  const held = gate()
  service.around = async (_, when) => {
    if (when === 'before') await held.opened
  }
  const replies = [ask(open), ask(chunk(a)), ask(chunk(b)), ask(chunk(c))]
  await settle(10)
  assert.is(service.underWay, 1)
  held.open()
  await Promise.all(replies)
  assert.is(service.mostUnderWay, 1)
  assert.equal(
    service.calls.map(call => (call.type === 'forward-backward' ? call.groups : [])),
    [[a], [b], [c]],
  )
  await system.stop()
})

test('a group that is asked for again is not sent again', async () => {
  const { ask, chunk, open, service, system } = makeScene()
  await ask(open)
  await ask(chunk(a, b))
  const again = await ask(chunk(b, c))
  assert.equal(again.type === 'chunk-over' && again.consumed, [b, c])
  const nothing = await ask(chunk(a))
  assert.is(nothing.type === 'chunk-over' && nothing.call, null)
  assert.equal(
    service.calls.map(call => (call.type === 'forward-backward' ? call.groups : [])),
    [[a, b], [c]],
  )
  await system.stop()
})

test('closing takes one optimiser step and settles every group; a step with an open group is not closed', async () => {
  const first = makeScene()
  await first.ask(first.open)
  await first.ask(first.chunk(a))
  const dropped = [{ groupId: b, reason: 'no-reward-spread' }]
  const closed = await first.ask(first.close([a, b], dropped))
  assert.equal(closed.type === 'step-closed' && closed.end, { type: 'trained', checkpointId: 'ckpt-1' })
  assert.equal(first.settled.sort(), [`${a} consumed`, `${b} dropped no-reward-spread`].sort())
  await first.ask(first.close([a, b], dropped))
  assert.is(first.service.applied.length, 1, 'closing it again steps no more')
  await first.system.stop()

  const second = makeScene()
  await second.ask(second.open)
  await second.ask(second.chunk(a))
  const refused = await second.ask(second.close([a, b]))
  assert.is(refused.type === 'trainer-failed' && refused.error.tag, 'step-not-over')
  assert.is(second.service.applied.length, 0)
  await second.system.stop()
})

test('once its journal failed it sends nothing more', async () => {
  let isFull = false
  const scene = makeScene({
    put: async () => {
      if (isFull) throw new TroupeError({ tag: 'journal-disk-full', message: 'full' })
    },
  })
  const { ask, chunk, open, service, system } = scene
  await ask(open)
  isFull = true
  const failed = await ask(chunk(a))
  assert.is(failed.type === 'trainer-failed' && failed.error.tag, 'journal-disk-full')
  isFull = false
  const after = await ask(chunk(b))
  assert.is(after.type === 'trainer-failed' && after.error.tag, 'journal-disk-full')
  assert.is(service.calls.length, 0)
  await system.stop()
})

test('a call without an answer by its deadline leaves its groups unknown, and the trainer goes on', async () => {
  const { ask, chunk, clock, open, service, system } = makeScene()
  await ask(open)
  service.around = () => new Promise(() => {})
  const late = ask(chunk(a))
  await clock.advance(60_000)
  const over = await late
  assert.equal(over.type === 'chunk-over' && [over.dropped, over.error?.tag], [
    [{ groupId: a, reason: 'delivery-unknown' }],
    'trainer-call-late',
  ])
  service.around = async () => {}
  const next = await ask(chunk(b))
  assert.equal(next.type === 'chunk-over' && next.consumed, [b])
  await system.stop()
})

test('an optimiser step that a dead process sent is waited for a moment, adopted, and never sent again', async () => {
  const { ask, chunk, clock, close, kept, open, service, system } = makeScene()
  await ask(open)
  await ask(chunk(a))
  kept.set('training/steps/000000/optim', { type: 'stepping', known: [], learningRate: 0.05 })
  const opening = ask(open)
  await settle(20)
  await service.client().optimStep({ learningRate: 0.05 })
  await clock.advance(1_000)
  const opened = await opening
  assert.is(opened.type === 'step-opened' && opened.adopted, 'ckpt-1')
  const closed = await ask(close([a]))
  assert.equal(closed.type === 'step-closed' && [closed.optimStep, closed.learningRate], [1, 0.05])
  assert.is(service.applied.length, 1)
  await system.stop()
})

test('questions beyond its queue are refused', async () => {
  const { ask, chunk, open, service, system } = makeScene()
  await ask(open)
  const held = gate()
  service.around = () => held.opened
  const replies = groupIds.map(groupId => ask(chunk(groupId)))
  await settle(10)
  held.open()
  const refused = (await Promise.all(replies)).filter(reply => reply.type === 'trainer-failed')
  assert.is(refused.length, groupIds.length - 65)
  assert.ok(refused.every(reply => reply.error.tag === 'trainer-queue-full'))
  assert.is(service.calls.length, 65)
  await system.stop()
})

test('a message for a step that is not open is refused', async () => {
  const { ask, chunk, system } = makeScene()
  const reply = await ask(chunk(a))
  assert.is(reply.type === 'trainer-failed' && reply.error.tag, 'step-not-open')
  await system.stop()
})

test.run()

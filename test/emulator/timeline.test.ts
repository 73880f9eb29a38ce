import * as assert from 'uvu/assert'
import { makeTimelines, type SandboxTimeline } from '../../src/emulator/timeline.ts'
import { suite } from '../support/suite.ts'

const test = suite('emulator timeline')

/** Timelines on a clock that the test moves, and work that ends when it says so. */
function makeScene(kept?: number) {
  let now = 1_000
  const timelines = makeTimelines(() => now, kept)
  return {
    timelines,
    /** An operation from now on for `ms`. */
    async pass(id: string, operation: Parameters<typeof timelines.time>[1], ms: number): Promise<void> {
      let end: () => void = () => {}
      const timed = timelines.time(id, operation, new Promise<void>(resolve => (end = resolve)))
      now += ms
      end()
      await timed
    },
  }
}

test('each operation has its start and its end on one clock', async () => {
  const { timelines, pass } = makeScene()
  timelines.begin('id', 'name')
  await pass('id', 'create', 1_200)
  await pass('id', 'session', 80)
  const expected: SandboxTimeline = {
    id: 'id',
    name: 'name',
    steps: [
      { operation: 'create', startMs: 1_000, endMs: 2_200 },
      { operation: 'session', startMs: 2_200, endMs: 2_280 },
    ],
    floorMs: null,
  }
  assert.equal(timelines.of('id'), expected)
  assert.equal(timelines.of('name'), expected)
  assert.is(timelines.of('other'), undefined)
})

test('the floor is create, session, exec and boot, whatever ran beside them', async () => {
  const { timelines, pass } = makeScene()
  timelines.begin('id', 'name')
  for (const [operation, ms] of [
    ['accept', 150],
    ['create', 1_200],
    ['session', 80],
    ['exec', 60],
    ['sshAccess', 100],
    ['boot', 900],
    ['exec', 5_000],
  ] as const)
    await pass('id', operation, ms)
  assert.is(timelines.of('id')?.floorMs, 1_200 + 80 + 60 + 900)
})

test('a claim takes the place of the create, and of a fork the floor ends with the resumed server', async () => {
  const { timelines, pass } = makeScene()
  timelines.begin('member', 'member')
  timelines.rename('member', 'mine')
  for (const operation of ['claim', 'session', 'exec', 'boot'] as const) await pass('member', operation, 100)
  assert.is(timelines.of('mine')?.floorMs, 400)
  timelines.begin('child', 'child')
  await pass('child', 'fork', 660)
  assert.is(timelines.of('child')?.floorMs, null)
  await pass('child', 'resume', 900)
  assert.is(timelines.of('child')?.floorMs, 1_560)
})

test('a failed operation has ended, and its error goes on', async () => {
  const { timelines } = makeScene()
  timelines.begin('id', 'name')
  const failed = await timelines.time('id', 'boot', Promise.reject(new Error('broken'))).catch(error => error.message)
  assert.is(failed, 'broken')
  assert.is(timelines.of('id')?.steps[0]?.endMs, 1_000)
})

test('the oldest are forgotten, with their names, and steps are bounded', async () => {
  const { timelines, pass } = makeScene(3)
  for (const id of ['a', 'b', 'c', 'd']) timelines.begin(id, `name-${id}`)
  assert.equal(
    timelines.newest(10).map(({ id }) => id),
    ['b', 'c', 'd'],
  )
  assert.equal(
    timelines.newest(1).map(({ id }) => id),
    ['d'],
  )
  assert.equal([timelines.of('a'), timelines.of('name-a')], [undefined, undefined])
  for (let at = 0; at < 40; at += 1) await pass('d', 'exec', 1)
  assert.is(timelines.of('d')?.steps.length, 32)
})

test.run()

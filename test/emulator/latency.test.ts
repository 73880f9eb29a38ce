import { setMaxListeners } from 'node:events'
import * as assert from 'uvu/assert'
import { sleep } from '../../src/clock.ts'
import { createFailureShare, interpolate } from '../../src/emulator/figures.ts'
import { type Latency, makeLatency } from '../../src/emulator/latency.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('emulator latency')

const HELLO_RETRY_MS = 500
const never = new AbortController().signal
setMaxListeners(0, never) // one for each latency that is made

/** Create or claim, session, server, ssh access, then `hello` every half second: one after the other, as the published client. */
async function usable(latency: Latency, clock: VirtualClock, first: 'create' | 'claim'): Promise<number> {
  const from = clock.now()
  await latency.take(first)
  await latency.take('session')
  await latency.take('exec')
  const boot = latency.take('boot')
  let up = false
  boot.then(() => {
    up = true
  })
  await latency.take('sshAccess')
  while (!up) await sleep(clock, HELLO_RETRY_MS)
  return clock.now() - from
}

async function medianOf(width: number, first: 'create' | 'claim', seed = 1): Promise<number> {
  const clock = new VirtualClock()
  const latency = makeLatency({ seed, clock, signal: never })
  const all = Promise.all(Array.from({ length: width }, () => usable(latency, clock, first)))
  await clock.advance(60_000)
  const sorted = (await all).sort((a, b) => a - b)
  return sorted[Math.floor(width / 2)] ?? 0
}

for (const [width, publishedMs] of [
  [8, 2_800],
  [32, 3_300],
  [128, 5_100],
  [256, 9_900],
] as const)
  test(`a client that works as the published one sees its cold median at ${width}`, async () => {
    const median = await medianOf(width, 'create')
    assert.ok(Math.abs(median / publishedMs - 1) < 0.15, `${median} ms against ${publishedMs} ms`)
  })

for (const [width, publishedMs] of [
  [128, 4_400],
  [256, 7_300],
] as const)
  test(`and its median from a warm pool at ${width}`, async () => {
    const median = await medianOf(width, 'claim')
    assert.ok(Math.abs(median / publishedMs - 1) < 0.15, `${median} ms against ${publishedMs} ms`)
  })

test('a create alone takes about 1.2 s, a fork 0.66 s', async () => {
  const clock = new VirtualClock()
  const latency = makeLatency({ seed: 3, clock, signal: never })
  const ends: Record<string, number> = {}
  for (const operation of ['create', 'fork'] as const)
    latency.take(operation).then(() => {
      ends[operation] = clock.now()
    })
  await clock.advance(5_000)
  assert.ok(Math.abs((ends.create ?? 0) - 1_200) < 240, String(ends.create))
  assert.ok(Math.abs((ends.fork ?? 0) - 660) < 130, String(ends.fork))
})

test('the first of a burst is told of the whole burst', async () => {
  const clock = new VirtualClock()
  const latency = makeLatency({ seed: 4, clock, signal: never })
  const all = Promise.all(Array.from({ length: 40 }, () => latency.take('create')))
  await clock.advance(10_000)
  assert.equal(
    (await all).filter(atOnce => atOnce !== 40),
    [],
  )
})

test('the same seed gives the same durations, another seed others', async () => {
  const [one, again, other] = await Promise.all([5, 5, 6].map(seed => medianOf(16, 'create', seed)))
  assert.is(one, again)
  assert.is.not(one, other)
})

test('what waits ends with the emulator', async () => {
  const clock = new VirtualClock()
  const controller = new AbortController()
  const latency = makeLatency({ seed: 1, clock, signal: controller.signal })
  const taken = latency.take('build').then(
    () => 'ended',
    () => 'cut off',
  )
  controller.abort(new Error('closing'))
  assert.is(await taken, 'cut off')
  assert.is(clock.pending, 0)
})

test('creates fail at 512 wide one in a hundred times, and never up to 256', () => {
  assert.is(createFailureShare(1), 0)
  assert.is(createFailureShare(256), 0)
  assert.is(createFailureShare(512), 0.01)
})

test('between points the line is straight, and goes on behind the last', () => {
  const points = [
    [1, 10],
    [3, 30],
    [5, 40],
  ] as const
  assert.equal(
    [0, 1, 2, 3, 4, 5, 7].map(x => interpolate(points, x)),
    [10, 10, 20, 30, 35, 40, 50],
  )
  assert.is(interpolate([[1, 5]], 99), 5)
})

test.run()

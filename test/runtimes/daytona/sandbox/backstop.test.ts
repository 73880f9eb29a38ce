/** Who is touched, when, and what happens to who is not. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { makeFasterClock } from '../../../../src/emulator/faster-clock.ts'
import { startEmulator } from '../../../../src/emulator/index.ts'
import { type ErrorData, TroupeError } from '../../../../src/errors.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'
import { makeBackstop } from '../../../../src/runtimes/daytona/sandbox/backstop.ts'
import { toRequest } from '../../../contracts/runtime.ts'
import { suite } from '../../../support/suite.ts'
import { settle, VirtualClock } from '../../../support/virtual-clock.ts'
import { look, withScene } from '../daytona-scene.ts'

const test = suite('daytona backstop')
const MINUTE_MS = 60_000

test('each sandbox is touched at least every third of the interval, until it is let go', async () => {
  const clock = new VirtualClock()
  const touched: { id: string; at: number }[] = []
  const backstop = makeBackstop({
    clock,
    autoStopMinutes: 15,
    touch: async id => touched.push({ id, at: clock.now() }),
  })
  const stops = ['a', 'b', 'c'].map(id => backstop.keep(id, () => {}))
  await clock.advance(31 * MINUTE_MS)
  for (const id of ['a', 'b', 'c']) {
    const times = [0, ...touched.filter(each => each.id === id).map(({ at }) => at), clock.now()]
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    assert.ok(Math.max(...gaps) < 5 * MINUTE_MS + 1, `${id}: ${gaps}`)
  }
  assert.is(new Set(touched.slice(0, 3).map(({ at }) => at)).size, 3, 'not all at once')
  for (const stop of stops) stop()
  const before = touched.length
  await clock.advance(60 * MINUTE_MS)
  assert.is(touched.length, before)
  assert.is(clock.pending, 0)
})

test('no more than so many touches are under way, and none is forgotten', async () => {
  const clock = new VirtualClock()
  const under: (() => void)[] = []
  let most = 0
  const seen = new Set<string>()
  const backstop = makeBackstop({
    clock,
    autoStopMinutes: 3,
    random: () => 0,
    width: 4,
    touch: id =>
      new Promise<void>(resolve => {
        seen.add(id)
        under.push(resolve)
        most = Math.max(most, under.length)
      }),
  })
  const stops = Array.from({ length: 50 }, (_, index) => backstop.keep(String(index), () => {}))
  await clock.advance(MINUTE_MS / 2)
  while (seen.size < 50) {
    for (const done of under.splice(0)) done()
    await settle()
  }
  assert.is(most, 4)
  for (const stop of stops) stop()
})

test('a touch that fails is published and tried again; one of a sandbox that is gone is told once', async () => {
  const clock = new VirtualClock()
  const published: unknown[] = []
  const listen = (message: unknown) => published.push(message)
  const refuse = (tag: string) => new TroupeError({ tag, message: 'no' })
  const answers: (() => void)[] = [
    () => {
      throw refuse('daytona-server-error')
    },
    () => {},
    () => {
      throw refuse('daytona-not-found')
    },
  ]
  let gone = 0
  subscribe('troupe:sandbox', listen)
  try {
    const backstop = makeBackstop({ clock, autoStopMinutes: 3, touch: async () => answers.shift()?.() })
    backstop.keep('a', () => {
      gone += 1
    })
    await clock.advance(10 * MINUTE_MS)
  } finally {
    unsubscribe('troupe:sandbox', listen)
  }
  assert.equal(
    published.map(each => (each as ErrorData).tag),
    ['daytona-touch-failed'],
  )
  assert.equal([gone, answers.length, clock.pending], [1, 0, 0])
})

test('a runtime touches its sandboxes by itself', () =>
  withScene(
    async scene => {
      await scene.runtime.provision(toRequest('one'))
      const { lastActivityAt: first } = await look(scene, 'troupe-one')
      for (;;) {
        const { lastActivityAt: latest } = await look(scene, 'troupe-one')
        if (Date.parse(latest ?? '') > Date.parse(first ?? '')) return
      }
    },
    {
      // Twenty seconds are a fifth of one.
      options: { clock: makeFasterClock(systemClock, 100), autoStopMinutes: 1, startDeadlineMs: 20 * MINUTE_MS },
    },
  ))

test('a killed engine’s sandboxes stop and are deleted when nobody touches them; a live one’s do not', async () => {
  const wall = shiftedClock()
  const emulator = await startEmulator({ speed: 100, isolation: 'none', clock: wall, lifetimesEveryMs: 5 })
  const account = await openAccount({ apiUrl: emulator.url, apiKey: emulator.apiKey, clock: systemClock })
  try {
    const make = (name: string) =>
      callDaytona('create', () =>
        account.sandboxes.createSandbox({ name, autoStopInterval: 15, autoDeleteInterval: 0 }),
      )
    const [touched, left] = await Promise.all(['touched', 'left'].map(make))
    for (const sandbox of [touched, left])
      if (sandbox !== undefined)
        await account.events.reached(sandbox.id, ['started'], { deadlineMs: 5_000, known: sandbox })
    wall.shift(10 * 60_000)
    await callDaytona('touch', () => account.sandboxes.updateLastActivity(touched?.id ?? ''))
    wall.shift(6 * 60_000)
    await account.events.reached(left?.id ?? '', ['destroyed'], { deadlineMs: 5_000 })
    assert.is((await callDaytona('look', () => account.sandboxes.getSandbox('touched'))).state, 'started')
    assert.is(emulator.existing(), 1)
  } finally {
    await account.release()
    await emulator.close()
  }
})

/** Timers of this machine, and a time of day that can be moved on. */
function shiftedClock() {
  let shiftMs = 0
  return {
    ...systemClock,
    wallTime: () => systemClock.wallTime() + shiftMs,
    shift(ms: number) {
      shiftMs += ms
    },
  }
}

test.run()

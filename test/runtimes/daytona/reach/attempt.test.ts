import * as assert from 'uvu/assert'
import { attempt } from '../../../../src/runtimes/daytona/reach/attempt.ts'
import type { Route } from '../../../../src/runtimes/daytona/reach/route.ts'
import { makeControlClient, type TroupeControlClient } from '../../../../src/wire/client.ts'
import { suite } from '../../../support/suite.ts'
import { VirtualClock } from '../../../support/virtual-clock.ts'
import { override } from './scene.ts'

const test = suite('daytona attempt')

const DEADLINE_MS = 60_000
const address = { kind: 'unix', path: '/nowhere' } as const
const route: Route = {
  transport: 'ssh',
  address: Promise.resolve(address),
  trouble: () => undefined,
  close: async () => {},
}

/** An attempt at a server that says something, or not, when told to; `tries` are the moments at which a `hello` was begun. */
function begin(graceMs: number) {
  const clock = new VirtualClock()
  const tries: number[] = []
  let announce: (itself: boolean) => void = () => {}
  const announced = new Promise<boolean>(resolve => {
    announce = resolve
  })
  const connect: TroupeControlClient['connect'] = (_, { signal }) => {
    tries.push(clock.now())
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
  const controller = new AbortController()
  const outcome = attempt(route, {
    client: override(makeControlClient(), { connect }),
    clock,
    prewarm: false,
    leftMs: () => DEADLINE_MS - clock.now(),
    server: Promise.resolve({ announced }),
    graceMs,
    signal: controller.signal,
  })
  outcome.catch(() => {})
  return { clock, tries, announce, controller, outcome }
}

test('the first hello is begun when the server says that it serves', async () => {
  const { clock, tries, announce } = begin(5_000)
  await clock.advance(1_234)
  assert.equal(tries, [])
  announce(true)
  await clock.advance(0)
  assert.equal(tries, [1_234])
  assert.is(clock.pending, 0)
})

test('a server that says nothing is tried after the grace, and anew once it does', async () => {
  const { clock, tries, announce } = begin(5_000)
  await clock.advance(7_000)
  assert.equal(tries, [5_000])
  announce(true)
  await clock.advance(0)
  assert.equal(tries, [5_000, 7_000])
})

test('a server whose words cannot be followed is tried at once', async () => {
  const { clock, tries, announce } = begin(5_000)
  announce(false)
  await clock.advance(0)
  assert.equal(tries, [0])
})

test('given up while it waits, it never begins', async () => {
  const { clock, tries, controller, outcome } = begin(5_000)
  await clock.advance(1_000)
  controller.abort(new Error('enough'))
  const thrown = await outcome.catch((error: unknown) => error)
  assert.is(thrown, controller.signal.reason)
  await clock.advance(10_000)
  assert.equal(tries, [])
})

test.run()

/** Waiting for states and watching them: over a stream that works, one that is silent, and none. */
import type { SandboxApi, Sandbox as SandboxDto, SandboxState } from '@daytona/api-client'
import * as assert from 'uvu/assert'
import { toErrorData } from '../../../../src/errors.ts'
import { accountReleased } from '../../../../src/runtimes/daytona/account/errors.ts'
import { findSandbox } from '../../../../src/runtimes/daytona/account/find-sandbox.ts'
import type { EventFeed, SandboxNews } from '../../../../src/runtimes/daytona/events/event-feed.ts'
import { makeSandboxEvents } from '../../../../src/runtimes/daytona/events/events.ts'
import { suite } from '../../../support/suite.ts'
import { settle, VirtualClock } from '../../../support/virtual-clock.ts'

const test = suite('daytona events')

/** A provider of which the test decides what it says. */
function openProvider() {
  const clock = new VirtualClock()
  const states = new Map<string, SandboxState>()
  const looks: number[] = []
  const feed = { opened: 0, closed: 0, trusted: false }
  let hear: { onNews: (news: SandboxNews) => void; onReconnected: () => void } | undefined
  let refuse: unknown
  const getSandbox = async (id: string) => {
    looks.push(clock.now())
    await settle(1)
    if (refuse !== undefined) throw refuse
    const state = states.get(id)
    if (state === undefined) throw fail(404)
    return { data: toDto(id, state), headers: {} }
  }
  const events = makeSandboxEvents({
    apiUrl: 'http://127.0.0.1:1/api',
    apiKey: 'k',
    clock,
    random: () => 0.5,
    // As much of the generated client as is called.
    look: (id, signal) => findSandbox({ sandboxes: { getSandbox } as unknown as SandboxApi }, id, { signal }),
    makeFeed: given => {
      hear = given
      const made: EventFeed = {
        open: () => {
          feed.opened += 1
        },
        get trusted() {
          return feed.trusted
        },
        close: () => {
          feed.closed += 1
        },
      }
      return made
    },
  })
  const reached: typeof events.reached = (...asked) => {
    const waiting = events.reached(...asked)
    waiting.catch(() => {}) // the test looks at it later
    return waiting
  }
  return {
    clock,
    events: { ...events, reached },
    feed,
    looks,
    /** What a look finds from now on; with `event`, the stream tells it, too. */
    set(id: string, state: SandboxState | undefined, event = false) {
      if (state === undefined) states.delete(id)
      else states.set(id, state)
      if (event && state !== undefined) hear?.onNews({ id, state })
    },
    refuse(error: unknown) {
      refuse = error
    },
    reconnect: () => hear?.onReconnected(),
  }
}

const fail = (status: number) =>
  Object.assign(new Error(`status ${status}`), {
    isAxiosError: true,
    response: { status, data: { message: `status ${status}` }, headers: {} },
    config: { method: 'get', url: 'http://127.0.0.1:1/api/sandbox/a' },
  })

function toDto(id: string, state: SandboxState): SandboxDto {
  const sizes = { cpu: 1, gpu: 0, memory: 1, disk: 3, public: false, networkBlockAll: false }
  return {
    id,
    state,
    organizationId: 'o',
    name: id,
    user: 'u',
    env: {},
    labels: {},
    target: 'us',
    toolboxProxyUrl: 't',
    ...sizes,
  }
}

/** Settled already, or not. */
async function outcome(promise: Promise<SandboxDto>): Promise<string> {
  const ended = promise.then(
    ({ state }) => String(state),
    error => toErrorData(error).tag,
  )
  await settle()
  return Promise.race([ended, Promise.resolve('waiting')])
}

const options = (known?: SandboxDto) => ({ deadlineMs: 60_000, ...(known === undefined ? {} : { known }) })

test('what is known to be so is not asked', async () => {
  const { events, looks, clock } = openProvider()
  assert.is(await outcome(events.reached('a', ['started'], options(toDto('a', 'started')))), 'started')
  assert.equal([looks.length, clock.pending], [0, 0])
})

test('an event ends the wait, with what is known and what it tells, and leaves nothing behind', async () => {
  const { events, feed, looks, set, clock } = openProvider()
  feed.trusted = true
  const waiting = events.reached('a', ['started'], options(toDto('a', 'creating')))
  await clock.advance(1_000)
  set('a', 'started', true)
  const { state, name, target } = await waiting
  assert.equal([state, name, target], ['started', 'a', 'us'])
  assert.equal([looks.length, clock.pending], [0, 0])
})

test('an event that came before anybody waited counts', async () => {
  const { events, feed, set } = openProvider()
  feed.trusted = true
  set('a', 'started', true)
  assert.is(await outcome(events.reached('a', ['started'], options(toDto('a', 'creating')))), 'started')
})

test('whoever watches is told what an event said before, once', () => {
  const { events, set } = openProvider()
  set('a', 'error', true)
  const seen: SandboxState[] = []
  const stop = events.watch('a', state => seen.push(state))
  set('a', 'error', true)
  stop()
  assert.equal(seen, ['error'])
})

test('without a stream it looks, soon at first and then less often', async () => {
  const { events, looks, set, clock } = openProvider()
  set('a', 'creating')
  const waiting = events.reached('a', ['started'], options())
  await clock.advance(10_000)
  assert.is(looks[0], 0)
  const gaps = looks.slice(1).map((at, index) => at - (looks[index] ?? 0))
  assert.ok((gaps[0] ?? 0) <= 300, String(gaps))
  assert.ok(
    gaps.every((gap, index) => index === 0 || gap >= (gaps[index - 1] ?? 0)),
    String(gaps),
  )
  assert.ok(Math.max(...gaps) <= 2_400)
  set('a', 'started')
  await clock.advance(2_500)
  assert.is(await outcome(waiting), 'started')
  assert.is(clock.pending, 0)
})

test('with a stream that tells it looks seldom, and still finds what the stream has lost', async () => {
  const { events, feed, looks, set, clock } = openProvider()
  feed.trusted = true
  set('a', 'started')
  const waiting = events.reached('a', ['started'], options(toDto('a', 'creating')))
  await clock.advance(4_900)
  assert.is(looks.length, 0)
  await clock.advance(10_000)
  assert.is(await outcome(waiting), 'started')
  assert.is(looks.length, 1)
})

test('after a gap in the stream all that is awaited and watched is looked at', async () => {
  const { events, feed, set, clock, reconnect } = openProvider()
  feed.trusted = true
  const seen: SandboxState[] = []
  const stop = events.watch('b', state => seen.push(state))
  set('b', 'started', true)
  const waiting = events.reached('a', ['started'], options(toDto('a', 'creating')))
  set('a', 'started')
  set('b', undefined)
  reconnect()
  await clock.advance(300)
  assert.is(await outcome(waiting), 'started')
  assert.equal(seen, ['started', 'destroyed'])
  stop()
  set('b', 'started', true)
  assert.is(seen.length, 2)
  assert.is(clock.pending, 0)
})

const FAILURES: readonly [state: SandboxState | undefined, wanted: SandboxState, ends: string][] = [
  ['error', 'started', 'daytona-sandbox-failed'],
  ['build_failed', 'started', 'daytona-sandbox-failed'],
  ['destroyed', 'started', 'daytona-sandbox-failed'],
  [undefined, 'started', 'daytona-sandbox-failed'],
  [undefined, 'destroyed', 'destroyed'],
  ['destroyed', 'destroyed', 'destroyed'],
  // What had failed before it is deleted is still on its way.
  ['error', 'destroyed', 'waiting'],
  ['stopping', 'started', 'waiting'],
]
for (const [state, wanted, ends] of FAILURES)
  test(`who waits for ${wanted} and finds ${state ?? 'nothing'}: ${ends}`, async () => {
    const { events, set, clock } = openProvider()
    set('a', state)
    const waiting = events.reached('a', [wanted], options())
    await clock.advance(100)
    assert.is(await outcome(waiting), ends)
    events.close(accountReleased())
  })

test('a deadline, a signal and a refused key end the wait; a fault of the provider does not', async () => {
  const { events, set, clock, refuse, feed } = openProvider()
  set('a', 'creating')
  const controller = new AbortController()
  const late = events.reached('a', ['started'], { deadlineMs: 5_000 })
  const called = events.reached('a', ['started'], { ...options(), signal: controller.signal })
  refuse(fail(503))
  await clock.advance(4_900)
  assert.is(await outcome(late), 'waiting')
  await clock.advance(200)
  assert.is(await outcome(late), 'daytona-wait-timeout')
  controller.abort(Object.assign(new Error('enough'), { code: 'ENOUGH' }))
  assert.is(await outcome(called), 'enough')
  refuse(fail(401))
  const refused = events.reached('a', ['started'], options())
  await clock.advance(1)
  assert.is(await outcome(refused), 'daytona-unauthorized')
  const last = events.reached('a', ['started'], options())
  refuse(undefined)
  events.close(accountReleased())
  assert.is(await outcome(last), 'daytona-released')
  assert.equal([clock.pending, feed.closed], [0, 1])
})

test.run()

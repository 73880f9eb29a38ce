import * as assert from 'uvu/assert'
import type { Transport } from '../../../../src/runtimes/daytona/options.ts'
import { makePreference } from '../../../../src/runtimes/daytona/reach/preference.ts'
import { race } from '../../../../src/runtimes/daytona/reach/race.ts'
import { suite } from '../../../support/suite.ts'
import { settle, VirtualClock } from '../../../support/virtual-clock.ts'

const test = suite('daytona race')

/** Runners that come in or fail when told to. */
function makeTrack() {
  const clock = new VirtualClock()
  const started: Transport[] = []
  const lost: Transport[] = []
  const outcomes = new Map<Transport, { resolve: (prize: string) => void; reject: (error: Error) => void }>()
  const start = (transport: Transport) => {
    started.push(transport)
    const prize = new Promise<string>((resolve, reject) => outcomes.set(transport, { resolve, reject }))
    return { prize, lose: () => lost.push(transport) }
  }
  return {
    clock,
    started,
    lost,
    run: (field: Parameters<typeof race>[0]) => race(field, start, clock),
    win: (transport: Transport) => outcomes.get(transport)?.resolve(`over ${transport}`),
    fail: (transport: Transport) => outcomes.get(transport)?.reject(new Error(`no ${transport}`)),
  }
}

test('without a head start all run, the first wins and the others lose', async () => {
  const { run, started, lost, win } = makeTrack()
  const running = run({ transports: ['websocket', 'ssh'], headStartMs: 0 })
  assert.equal(started, ['websocket', 'ssh'])
  win('ssh')
  assert.equal(await running, { transport: 'ssh', prize: 'over ssh' })
  assert.equal(lost, ['websocket'])
})

test('a favourite that gets there in time runs alone', async () => {
  const { run, started, lost, win, clock } = makeTrack()
  const running = run({ transports: ['ssh', 'websocket'], headStartMs: 1_000 })
  await clock.advance(999)
  win('ssh')
  assert.is((await running).transport, 'ssh')
  assert.equal([started, lost], [['ssh'], []])
  assert.is(clock.pending, 0)
})

test('one that fails or takes too long is joined by the other', async () => {
  for (const happens of ['fails', 'is late'] as const) {
    const { run, started, win, fail, clock } = makeTrack()
    const running = run({ transports: ['ssh', 'websocket'], headStartMs: 1_000 })
    if (happens === 'fails') fail('ssh')
    else await clock.advance(1_000)
    await settle()
    assert.equal(started, ['ssh', 'websocket'])
    win('websocket')
    assert.is((await running).transport, 'websocket')
  }
})

test('when all have failed, it is told of each in order', async () => {
  const { run, fail } = makeTrack()
  const running = run({ transports: ['websocket', 'ssh'], headStartMs: 0 })
  fail('ssh')
  fail('websocket')
  const error = await running.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof AggregateError)
  assert.equal(
    error.errors.map(({ message }) => message),
    ['no websocket', 'no ssh'],
  )
})

test('auto races until one has won, then prefers the last winner; what was asked for stays alone', () => {
  const auto = makePreference('auto')
  assert.equal(auto.field(1_000), { transports: ['websocket', 'ssh'], headStartMs: 0 })
  auto.won('ssh')
  assert.equal(auto.field(1_000), { transports: ['ssh', 'websocket'], headStartMs: 500 })
  auto.won('websocket')
  assert.equal(auto.field(1_000).transports, ['websocket', 'ssh'])
  assert.equal(makePreference('ssh').field(1_000).transports, ['ssh'])
})

test.run()

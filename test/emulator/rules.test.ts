import * as assert from 'uvu/assert'
import { makeFaults, parseFault } from '../../src/emulator/faults.ts'
import { whatIsDue } from '../../src/emulator/lifetimes.ts'
import { makeServers } from '../../src/emulator/servers.ts'
import { makeThrottle } from '../../src/emulator/throttle.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('emulator rules')

test('a throttler admits its limit a minute, and says when to come again', async () => {
  const clock = new VirtualClock()
  const throttle = makeThrottle({ authenticated: 9, 'sandbox-create': 2, 'sandbox-lifecycle': 9 }, clock, 20)
  assert.equal(
    [1, 2, 3].map(() => throttle.admit('sandbox-create').admitted),
    [true, true, false],
  )
  await clock.advance(40_000)
  const { headers } = throttle.admit('sandbox-create')
  // 20 s of emulated time are one of the client's.
  assert.is(headers['retry-after'], '1')
  assert.is(headers['retry-after-sandbox-create'], '1')
  assert.is(headers['x-ratelimit-remaining-sandbox-create'], '0')
  assert.is(throttle.admit('authenticated').admitted, true)
  await clock.advance(20_000)
  assert.is(throttle.admit('sandbox-create').admitted, true)
})

test('faults strike the next so many, or a share, and are counted', () => {
  const faults = makeFaults(1, [{ kind: 'server-error', share: 0.25 }])
  faults.set({ kind: 'lost', next: 2 })
  assert.equal(
    [1, 2, 3].map(() => faults.strikes('lost')),
    [true, true, false],
  )
  const hits = Array.from({ length: 1_000 }, () => faults.strikes('server-error')).filter(hit => hit).length
  assert.ok(hits > 200 && hits < 300, String(hits))
  assert.equal(faults.struck, { lost: 2, 'server-error': hits })
  faults.clear()
  assert.is(faults.strikes('server-error'), false)
})

test('a fault on the command line is a kind and a share', () => {
  assert.equal(parseFault('reset-create=0.01'), { kind: 'reset-create', share: 0.01 })
  for (const text of ['reset-create', 'reset-create=', 'reset-create=2', 'nonsense=0.1'])
    assert.throws(() => parseFault(text), /write KIND=SHARE/)
})

test('intervals and times to live are in minutes of the outside', () => {
  const record = {
    state: 'started',
    destroyAt: undefined,
    autoStopInterval: 2,
    autoDeleteInterval: 3,
    lastActivityAt: 0,
    updatedAt: 0,
    warmPoolId: undefined,
  } as const
  assert.is(whatIsDue(record, 119_999), undefined)
  assert.is(whatIsDue(record, 120_000), 'stop')
  assert.is(whatIsDue({ ...record, warmPoolId: 'pool' }, 120_000), undefined)
  assert.is(whatIsDue({ ...record, autoStopInterval: 0 }, 9e9), undefined)
  assert.is(whatIsDue({ ...record, state: 'stopped' }, 179_999), undefined)
  assert.is(whatIsDue({ ...record, state: 'stopped' }, 180_000), 'destroy')
  assert.is(whatIsDue({ ...record, state: 'stopped', autoDeleteInterval: -1 }, 9e9), undefined)
  assert.is(whatIsDue({ ...record, destroyAt: 5 }, 5), 'destroy')
})

test('a command that serves an environment is told from any other', () => {
  const servers = makeServers({ servers: 'shared', directory: process.cwd() })
  const told = (command: string) => {
    const request = servers.recognise(command)
    return request === undefined ? undefined : [request.environmentPath.replace(process.cwd(), ''), request.port]
  }
  assert.equal(told('troupe serve environments/calc/env.ts'), ['/environments/calc/env.ts', 8765])
  assert.equal(
    told('cd /app && exec troupe serve /app/environments/calc/env.ts --host 0.0.0.0 --port 9000 --insecure'),
    ['/environments/calc/env.ts', 9000],
  )
  assert.is(told('echo troupe serves environments/calc/env.ts'), undefined)
  assert.is(told('troupe serve nowhere/env.ts'), undefined)
  assert.throws(() => servers.recognise('troupe serve ../../../etc/env.ts'), /outside/)
})

test.run()

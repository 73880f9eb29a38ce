import * as assert from 'uvu/assert'
import type { ErrorData } from '../../src/errors.ts'
import { withRunLimit } from '../../src/runtimes/run-limit.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('a sandbox’s run limit')

async function open(limitS: number | undefined) {
  const runtime = new FakeRuntime()
  const clock = new VirtualClock()
  const losses: ErrorData[] = []
  let die: (error: ErrorData) => void = () => {}
  const sandbox = await withRunLimit(
    toRequest('one', { onLost: error => losses.push(error) }),
    { clock, limitS },
    request => {
      die = error => request.onLost?.(error)
      return runtime.provision(request)
    },
  )
  return { runtime, clock, losses, sandbox, die: (error: ErrorData) => die(error) }
}

test('at its end the sandbox is told to be lost, once and for good, and is gone', async () => {
  const { runtime, clock, losses } = await open(30)
  await clock.advance(29_999)
  assert.equal([losses.length, runtime.existing.size], [0, 1])
  await clock.advance(1)
  await settle()
  assert.equal([losses[0]?.tag, losses[0]?.transient, runtime.existing.size], ['run-limit', false, 0])
  assert.match(losses[0]?.message ?? '', /30 s that runtime_config\.limits\.run_timeout_s/)
})

test('one that is given back in time, that died before, or that has no limit, is never told of it', async () => {
  const given = await open(30)
  await given.sandbox.dispose({ sessionEnded: true })
  await given.clock.advance(60_000)
  assert.equal(given.losses, [])
  const dead = await open(30)
  dead.die({ tag: 'sandbox-lost', message: 'out of memory' })
  await dead.clock.advance(60_000)
  assert.equal(
    dead.losses.map(({ tag }) => tag),
    ['sandbox-lost'],
  )
  const free = await open(undefined)
  await free.clock.advance(2 ** 40)
  assert.equal([free.losses, free.runtime.existing.size], [[], 1])
})

test('a limit that no timer can count is as good as none, and does not end it at once', async () => {
  const { clock, losses } = await open(10_000_000)
  await clock.advance(60_000)
  assert.equal(losses, [])
})

test.run()

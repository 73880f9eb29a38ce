import * as assert from 'uvu/assert'
import { type ErrorData, TroupeError } from '../../../src/errors.ts'
import { toSandboxId } from '../../../src/ids.ts'
import { watchProvisions } from '../../../src/ladder/client/watched-runtime.ts'
import { FakeProviderPool, FakeRuntime } from '../../actors/fake-runtime.ts'
import { suite } from '../../support/suite.ts'

const test = suite('a watched runtime')

const request = (signal = new AbortController().signal) => ({
  id: toSandboxId('one'),
  task: undefined,
  labels: {},
  prewarm: false,
  signal,
})

function watch(runtime: FakeRuntime) {
  const heard: ErrorData[] = []
  return { heard, watched: watchProvisions(runtime, error => void heard.push(error)) }
}

test('a create that fails is heard of, and fails all the same', async () => {
  const runtime = new FakeRuntime()
  const { watched, heard } = watch(runtime)
  await watched.provision(request())
  assert.equal(heard, [])
  runtime.failing = new TroupeError({ tag: 'no-quota', message: 'full' })
  await watched.provision(request()).then(
    () => assert.unreachable(),
    error => assert.is(error, runtime.failing),
  )
  assert.equal(
    heard.map(({ tag }) => tag),
    ['no-quota'],
  )
})

test('one that was called off is nobody’s error', async () => {
  const runtime = new FakeRuntime()
  runtime.immediate = false
  const { watched, heard } = watch(runtime)
  const controller = new AbortController()
  const making = watched.provision(request(controller.signal))
  controller.abort()
  await making.then(
    () => assert.unreachable(),
    () => {},
  )
  assert.equal(heard, [])
})

test('it can do what the other can, and no more', async () => {
  const plain = watch(new FakeRuntime()).watched
  assert.equal(
    [plain.forks, plain.providerPool, plain.list, plain.diagnose],
    [undefined, undefined, undefined, undefined],
  )
  const able = new FakeRuntime()
  able.forks = true
  able.providerPool = new FakeProviderPool()
  able.diagnose = async () => ({ tag: 'gone', message: 'it died' })
  const { watched } = watch(able)
  assert.is(watched.forks, true)
  assert.is(watched.providerPool, able.providerPool)
  assert.is((await watched.diagnose?.(toSandboxId('one')))?.tag, 'gone')
  await watched.preflight({ sandboxes: 3, providerPool: false })
  assert.equal(able.plans, [{ sandboxes: 3, providerPool: false }])
})

test.run()

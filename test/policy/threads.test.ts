import * as assert from 'uvu/assert'
import { hasTag, TroupeError } from '../../src/errors.ts'
import { makeJaxSampler } from '../../src/policy/jax/sampler.ts'
import type { SampleRequest, Sampler } from '../../src/policy/policy.ts'
import { makeSamplers, startSamplerThread, startTrainerThread } from '../../src/policy/threads/index.ts'
import { startThread } from '../../src/policy/threads/thread.ts'
import { suite } from '../support/suite.ts'
import { drawData, freshState, SMALL, unevenWeights } from './scene.ts'

const test = suite('policy threads')

const weights = unevenWeights()
const OPTIONS = { slots: 8, chunk: 4 }
const request = (seed: number): SampleRequest => ({
  prompt: Uint32Array.of(1 + (seed % 3), 2),
  maxTokens: 6,
  temperature: 1,
  seed,
  stopToken: SMALL.vocabulary,
})

test('samplers in threads put out what one in the calling thread does', async () => {
  const here = await makeJaxSampler(SMALL, OPTIONS)
  const there = makeSamplers([startSamplerThread(SMALL, OPTIONS), startSamplerThread(SMALL, OPTIONS)])
  await Promise.all([here.load(weights, 'first'), there.load(weights, 'first')])
  const requests = Array.from({ length: 20 }, (_, i) => request(i))
  const expected = await Promise.all(requests.map(each => here.sample(each)))
  assert.equal(await Promise.all(requests.map(each => there.sample(each))), expected)
  assert.is(weights.head?.values.length, SMALL.width * SMALL.vocabulary, 'the weights are still the caller’s')

  const controller = new AbortController()
  const cancelled = rejection(there.sample({ ...request(1), maxTokens: 14 }, controller.signal))
  controller.abort()
  assert.ok(hasTag(await cancelled, 'sampling-cancelled'))
  const error = await rejection(there.sample({ ...request(1), prompt: new Uint32Array(0) }))
  assert.ok(hasTag(error, 'bad-sample-request'))

  await Promise.all([here.close(), there.close()])
  assert.ok(hasTag(await rejection(there.sample(request(1))), 'policy-closed'))
})

test('a trainer in a thread learns, and its errors come through as they are', async () => {
  const trainer = startTrainerThread(SMALL)
  const data = drawData(6)
  assert.ok(hasTag(await rejection(trainer.accumulate(data, { name: 'cross_entropy' })), 'policy-not-loaded'))
  await trainer.load(freshState(weights))
  const before = await trainer.accumulate(data, { name: 'cross_entropy' })
  const stepped = await trainer.step({ learningRate: 1e-3, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0 })
  const state = await trainer.state()
  assert.equal(stepped, state.weights)
  assert.is(before.tokens, (await trainer.logprobs(data)).flatMap(values => [...values]).length)
  const odd = data.map((datum, i) => (i === 4 ? { ...datum, advantage: Number.NaN } : datum))
  const error = await rejection(trainer.accumulate(odd, { name: 'cross_entropy' }))
  assert.ok(hasTag(error, 'loss-not-finite'))
  assert.is(error.data.details?.datum, 4)
  await trainer.close()
  assert.ok(hasTag(await rejection(trainer.state()), 'policy-closed'))
})

test('a thread that cannot work tells each call why', async () => {
  const sampler = startSamplerThread({ ...SMALL, heads: 3 })
  assert.ok(hasTag(await rejection(sampler.load(weights, 'first')), 'bad-model-shape'))
  await sampler.close()
})

test('a thread that ends unasked rejects what waits and what comes later', async () => {
  const program =
    "import('node:worker_threads').then(({ parentPort }) => parentPort.once('message', () => process.exit(3)))"
  const entry = new URL(`data:text/javascript,${encodeURIComponent(program)}`)
  const thread = startThread<string>({ machine: 'trainer', shape: SMALL }, entry)
  const [first, second] = await Promise.all([rejection(thread.ask('one')), rejection(thread.ask('two'))])
  assert.ok(hasTag(first, 'policy-thread-lost'))
  assert.ok(hasTag(second, 'policy-thread-lost'))
  assert.ok(hasTag(await rejection(thread.ask('three')), 'policy-thread-lost'))
  await thread.close()
})

test('a request goes to the sampler with the fewest, and a lost one gets no more', async () => {
  const asked: string[] = []
  const ends: (() => void)[] = []
  const fake = (name: string, isLost = false): Sampler => ({
    load: async () => {},
    sample: async () => {
      asked.push(name)
      if (isLost) throw new TroupeError({ tag: 'policy-thread-lost', message: 'gone' })
      await new Promise<void>(resolve => ends.push(resolve))
      return { output: new Uint32Array(1), logprobs: new Float32Array(1), finish: 'length', version: name }
    },
    close: async () => {},
  })
  const samplers = makeSamplers([fake('lost', true), fake('a'), fake('b')])
  const first = [1, 2, 3].map(seed => samplers.sample(request(seed)).catch(error => error))
  await Promise.resolve()
  assert.equal(asked, ['lost', 'a', 'b'])
  ends[1]?.()
  const [gone] = await Promise.all([first[0], first[2]])
  assert.ok(hasTag(gone, 'policy-thread-lost'))
  const later = [4, 5].map(seed => samplers.sample(request(seed)))
  assert.equal(asked, ['lost', 'a', 'b', 'b', 'a'])
  for (const end of ends) end()
  await Promise.all([...first, ...later])
  await samplers.close()
})

test.run()

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    error => error,
  )
}

import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { makeJaxSampler } from '../../src/policy/jax/sampler.ts'
import { makeJaxTrainer } from '../../src/policy/jax/trainer.ts'
import type { SampleRequest, Sampler } from '../../src/policy/policy.ts'
import { makeRandom } from '../../src/random.ts'
import { suite } from '../support/suite.ts'
import { freshState, mapWeights, SMALL, unevenWeights } from './scene.ts'

const test = suite('sampler')

const weights = unevenWeights()
const other = unevenWeights(SMALL, 2)
let sampler: Sampler

test.before(async () => {
  sampler = await makeJaxSampler(SMALL, { slots: 8, chunk: 4, prefillBatch: 2, keptPrompts: 5, maxWaiting: 40 })
})
test.beforeEach(() => sampler.load(weights, 'first'))
test.after(() => sampler.close())

test('log-probabilities are those of the trainer', async () => {
  const trainer = await makeJaxTrainer(SMALL)
  await trainer.load(freshState(weights))
  const requests = Array.from({ length: 30 }, (_, i) => drawRequest(i))
  const results = await Promise.all(requests.map(request => sampler.sample(request)))
  const found = await trainer.logprobs(
    results.map(({ output, logprobs }, i) => ({
      prompt: requests[i]?.prompt ?? new Uint32Array(0),
      output,
      logprobs,
      advantage: 0,
    })),
  )
  let worst = 0
  for (const [i, { output, logprobs }] of results.entries()) {
    assert.is(logprobs.length, output.length)
    for (const [t, value] of logprobs.entries())
      worst = Math.max(worst, Math.abs(value - (found[i]?.[t] ?? Number.NaN)))
  }
  assert.ok(worst < 5e-5, `${worst}`)
  await trainer.close()
})

test('a request has the same tokens, bit for bit, alone and in a crowd', async () => {
  const requests = Array.from({ length: 30 }, (_, i) => drawRequest(i))
  const alone = []
  for (const request of requests) alone.push(await sampler.sample(request))
  assert.equal(await Promise.all(requests.map(request => sampler.sample(request))), alone)
  const backwards = await Promise.all(requests.toReversed().map(request => sampler.sample(request)))
  assert.equal(backwards.toReversed(), alone)
  const staggered = requests.map(async (request, i) => {
    for (let turn = 0; turn < 3 * i; turn += 1) await new Promise(setImmediate)
    return sampler.sample(request)
  })
  assert.equal(await Promise.all(staggered), alone)
})

test('another seed has other tokens', async () => {
  const request = { ...drawRequest(1), maxTokens: 12, prompt: Uint32Array.of(3, 4), stopToken: SMALL.vocabulary }
  const outputs = await Promise.all([1, 2, 3].map(seed => sampler.sample({ ...request, seed })))
  assert.is(new Set(outputs.map(({ output }) => output.join())).size, 3)
})

test('temperature 0 takes the likeliest token, whatever the seed', async () => {
  const request = { ...drawRequest(2), temperature: 0, stopToken: SMALL.vocabulary }
  const [one, two] = await Promise.all([1, 2].map(seed => sampler.sample({ ...request, seed })))
  assert.equal(one, two)
  const drawn = await Promise.all(
    Array.from({ length: 30 }, (_, seed) => sampler.sample({ ...request, temperature: 1, maxTokens: 1, seed })),
  )
  for (const { logprobs } of drawn) assert.ok((logprobs[0] ?? 0) <= (one?.logprobs[0] ?? 0))
})

test('tokens come as often as their probabilities say', async () => {
  const prompt = Uint32Array.of(5, 6, 7)
  const draws = 400
  const counts = new Map<number, { seen: number; share: number }>()
  const request = { prompt, maxTokens: 1, temperature: 1, stopToken: 0 }
  for (let start = 0; start < draws; start += 40) {
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => sampler.sample({ ...request, seed: 100 + start + i })),
    )
    for (const { output, logprobs } of results) {
      const entry = counts.get(output[0] ?? 0) ?? { seen: 0, share: Math.exp(logprobs[0] ?? 0) }
      counts.set(output[0] ?? 0, { ...entry, seen: entry.seen + 1 })
    }
  }
  for (const { seen, share } of counts.values()) {
    const deviation = Math.sqrt(draws * share * (1 - share))
    assert.ok(Math.abs(seen - draws * share) < 4.5 * deviation + 1, `${seen} of ${draws} at ${share}`)
  }
})

test('an output ends at its stop token, at its limit, or where the context does', async () => {
  const free = { ...drawRequest(3), prompt: Uint32Array.of(1, 2, 3), stopToken: SMALL.vocabulary }
  const limited = await sampler.sample({ ...free, maxTokens: 5 })
  assert.is(limited.output.length, 5)
  assert.is(limited.finish, 'length')
  const full = await sampler.sample({ ...free, maxTokens: 1000 })
  assert.is(full.output.length, SMALL.context - 3)
  const third = full.output[2] ?? 0
  const stopped = await sampler.sample({ ...free, maxTokens: 1000, stopToken: third })
  assert.is(stopped.finish, 'stop')
  assert.equal([...stopped.output], [...full.output.slice(0, full.output.indexOf(third) + 1)])
})

test('a cancelled request rejects, and those beside it do not notice', async () => {
  const requests = Array.from({ length: 12 }, (_, i) => drawRequest(i))
  const alone = await Promise.all(requests.map(request => sampler.sample(request)))
  const controllers = requests.map(() => new AbortController())
  const results = requests.map((request, i) =>
    sampler.sample(request, controllers[i]?.signal).then(
      result => result,
      error => error,
    ),
  )
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate)
  for (const i of [0, 3, 11]) controllers[i]?.abort()
  for (const [i, result] of (await Promise.all(results)).entries())
    if ([0, 3, 11].includes(i)) assert.ok(hasTag(result, 'sampling-cancelled'))
    else assert.equal(result, alone[i])
  assert.ok(hasTag(await rejection(sampler.sample(drawRequest(0), AbortSignal.abort())), 'sampling-cancelled'))
})

test('a result is of one version: sequences under way at a change begin anew', async () => {
  const requests = Array.from({ length: 24 }, (_, i) => drawRequest(i))
  const old = await Promise.all(requests.map(request => sampler.sample(request)))
  await sampler.load(other, 'second')
  const fresh = await Promise.all(requests.map(request => sampler.sample(request)))
  await sampler.load(weights, 'first')
  const results = requests.map(request => sampler.sample(request))
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  await sampler.load(other, 'second')
  const seen = await Promise.all(results)
  for (const [i, result] of seen.entries()) assert.equal(result, result.version === 'first' ? old[i] : fresh[i])
  assert.is(seen.at(-1)?.version, 'second')
})

test('weights without finite output fail the request, and the next ones work', async () => {
  const request = drawRequest(4)
  const expected = await sampler.sample(request)
  await sampler.load(
    mapWeights(weights, (value, name) => (name === 'positions' ? Number.NaN : value)),
    'broken',
  )
  const error = await rejection(sampler.sample(request))
  assert.ok(hasTag(error, 'output-not-finite'))
  await sampler.load(weights, 'first')
  assert.equal(await sampler.sample(request), expected)
})

test('more requests than may wait are refused', async () => {
  const results = await Promise.allSettled(Array.from({ length: 60 }, (_, i) => sampler.sample(drawRequest(i))))
  const refused = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  assert.is(refused.length, 20)
  for (const error of refused) assert.ok(hasTag(error, 'sampler-full'))
})

test('requests that cannot be answered are refused', async () => {
  const good = drawRequest(1)
  for (const wrong of [
    { ...good, prompt: new Uint32Array(0) },
    { ...good, prompt: new Uint32Array(SMALL.context) },
    { ...good, prompt: Uint32Array.of(SMALL.vocabulary) },
    { ...good, maxTokens: 0 },
    { ...good, temperature: -1 },
    { ...good, seed: 0.5 },
  ])
    assert.ok(hasTag(await rejection(sampler.sample(wrong)), 'bad-sample-request'))
})

test('closing rejects what is under way', async () => {
  const closing = await makeJaxSampler(SMALL, { slots: 2 })
  assert.ok(hasTag(await rejection(closing.sample(drawRequest(0))), 'policy-not-loaded'))
  await closing.load(weights, 'first')
  const results = [0, 1, 2].map(i => rejection(closing.sample({ ...drawRequest(i), maxTokens: 12 })))
  await closing.close()
  for (const error of await Promise.all(results)) assert.ok(hasTag(error, 'policy-closed'))
  assert.ok(hasTag(await rejection(closing.sample(drawRequest(0))), 'policy-closed'))
})

test.run()

/** Prompts of several lengths, some of them the same for several requests. */
function drawRequest(i: number): SampleRequest {
  const random = makeRandom(i % 7)
  const prompt = Uint32Array.from({ length: 1 + (i % 7) }, () => Math.floor(random() * SMALL.vocabulary))
  return { prompt, maxTokens: 3 + (i % 9), temperature: i % 4 === 3 ? 0.7 : 1, seed: i, stopToken: 2 }
}

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    error => error,
  )
}

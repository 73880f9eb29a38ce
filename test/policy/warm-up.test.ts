import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { ChatTool } from '../../src/models/chat.ts'
import { makeChatFormat } from '../../src/policy/chat-format.ts'
import { makeJaxSampler } from '../../src/policy/jax/sampler.ts'
import { makeTokenizer } from '../../src/policy/tokenizer.ts'
import type { DemonstrationSource } from '../../src/policy/warm-up/demonstrations.ts'
import { learningRateAt } from '../../src/policy/warm-up/schedule.ts'
import { warmUp } from '../../src/policy/warm-up/warm-up.ts'
import { suite } from '../support/suite.ts'

const test = suite('warm-up')

const TOOLS: readonly ChatTool[] = [
  {
    type: 'function',
    function: {
      name: 'pick',
      description: 'picks one',
      parameters: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
    },
  },
]
const ITEMS = ['ab', 'cd', 'ef']

/** Asked for an item, the expert picks it. */
const source: DemonstrationSource = {
  name: 'toy',
  tools: TOOLS,
  settings: {
    width: 16,
    heads: 2,
    layers: 1,
    context: 16,
    merges: 10,
    steps: 160,
    batch: 8,
    learningRate: 1e-2,
    sharpen: 1.5,
    seed: 5,
  },
  corpus: () => [...ITEMS, 'pick', ...ITEMS, 'pick'],
  draw(random) {
    const item = ITEMS[Math.floor(random() * ITEMS.length)] ?? ''
    return [
      {
        context: [{ role: 'user', content: item }],
        reply: { content: '', toolCalls: [{ name: 'pick', arguments: { item } }] },
      },
    ]
  },
}

test('a toy is learned, by the same seed in the same way, and sampled from', async () => {
  const losses: number[] = []
  const policy = await warmUp(source, { onStep: ({ loss }) => losses.push(loss) })
  assert.is(losses.length, 160)
  const [first = 0, last = 0] = [losses[0], losses.at(-1)]
  assert.ok(first > 4 && last < 0.2 * first, `${first} to ${last}`)
  assert.equal(policy.made.settings, source.settings)

  const again = await warmUp({ ...source, settings: { ...source.settings, steps: 3 } }, { seed: 5 })
  const thrice = await warmUp({ ...source, settings: { ...source.settings, steps: 3, seed: 1 } }, { seed: 5 })
  assert.equal(again.weights, thrice.weights)

  const format = makeChatFormat(makeTokenizer(policy.tokenizer), policy.shape)
  const sampler = await makeJaxSampler(policy.shape, { slots: 4 })
  await sampler.load(policy.weights, 'base')
  for (const item of ITEMS) {
    const prompt = format.toPrompt([{ role: 'user', content: item }], TOOLS)
    const { output } = await sampler.sample({
      prompt,
      maxTokens: 10,
      temperature: 0,
      seed: 1,
      stopToken: format.stopToken,
    })
    assert.equal(format.toReply(output, TOOLS).calls, [{ name: 'pick', arguments: JSON.stringify({ item }) }])
  }
  await sampler.close()
})

test('demonstrations that do not fit are told by their length', async () => {
  const long = { ...source, settings: { ...source.settings, context: 4 } }
  assert.ok(hasTag(await rejection(warmUp(long)), 'demonstration-too-long'))
  const none = { ...source, settings: { ...source.settings, steps: 0 } }
  assert.ok(hasTag(await rejection(warmUp(none)), 'bad-warm-up'))
})

test('the learning rate rises, stays, and falls', () => {
  const rate = (step: number) => learningRateAt(step, { steps: 200, learningRate: 1 })
  assert.is(rate(1), 0.05)
  assert.is(rate(20), 1)
  assert.is(rate(100), 1)
  assert.is(rate(150), 0.5)
  assert.is(rate(200), 0.05)
})

test.run()

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    error => error,
  )
}

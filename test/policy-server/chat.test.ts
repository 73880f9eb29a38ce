import { request as httpRequest } from 'node:http'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { makeLatch, trajectory, withServer } from './scene.ts'

const test = suite('the chat surface')

const tool = {
  type: 'function',
  function: {
    name: 'say',
    description: 'says it',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
}

test('a completion has the shape that clients of OpenAI read, and names the version of the policy', async () => {
  await withServer({}, async ({ chat, server }) => {
    const { status, body } = await chat({ seed: 5 })
    assert.is(status, 200)
    assert.is(body.object, 'chat.completion')
    assert.is(body.model, server.model)
    assert.is(body.system_fingerprint, 'base')
    assert.is(body.choices.length, 1)
    const [choice] = body.choices
    assert.is(choice.message.role, 'assistant')
    assert.type(choice.message.content, 'string')
    assert.is(choice.finish_reason, 'stop')
    assert.is(choice.logprobs, null)
    assert.is(choice.token_ids, undefined)
    assert.is(body.usage.total_tokens, body.usage.prompt_tokens + body.usage.completion_tokens)
  })
})

test('token ids and log-probabilities come when asked for, as many of one as of the other', async () => {
  await withServer({}, async ({ chat }) => {
    const { body } = await chat({ seed: 7, logprobs: true, return_token_ids: true })
    const [{ token_ids: ids, prompt_token_ids: prompt, logprobs, message }] = body.choices
    assert.equal(prompt, [0, 2])
    assert.is(ids.at(-1), 0, 'the stop token is part of the output')
    assert.is(logprobs.content.length, ids.length)
    assert.is(logprobs.content.map((each: { token: string }) => each.token).join(''), `${message.content}.`)
    assert.ok(logprobs.content.every((each: { logprob: number }) => each.logprob < 0))
  })
})

test('the same seed gives the same reply, another seed another', async () => {
  await withServer({}, async ({ chat }) => {
    const replies = await Promise.all([11, 11, 12, 13, 14].map(seed => chat({ seed, return_token_ids: true })))
    const ids = replies.map(({ body }) => body.choices[0].token_ids.join())
    assert.is(ids[0], ids[1])
    assert.ok(new Set(ids).size > 1)
  })
})

test('a tool call comes as JSON text with an id of its own, and none is made with tool_choice none', async () => {
  await withServer({}, async ({ chat }) => {
    const seeds = Array.from({ length: 60 }, (_, seed) => seed)
    const ask = async (extra: object) =>
      await Promise.all(seeds.map(async seed => (await chat({ seed, tools: [tool], ...extra })).body.choices[0]))
    const choices = await ask({})
    const calling = choices.filter(({ finish_reason }) => finish_reason === 'tool_calls')
    assert.ok(calling.length > 0 && calling.length < choices.length)
    for (const { message } of calling) {
      assert.is(message.content, null)
      assert.is(message.tool_calls[0].function.name, 'say')
      assert.type(JSON.parse(message.tool_calls[0].function.arguments).text, 'string')
    }
    const ids = calling.map(({ message }) => message.tool_calls[0].id)
    assert.is(new Set(ids).size, ids.length)
    for (const { message, finish_reason } of await ask({ tool_choice: 'none' })) {
      assert.is(message.tool_calls, undefined)
      assert.is(finish_reason, 'stop')
    }
  })
})

test('an output cut off says so: by max_tokens, under either of its names, or by the context', async () => {
  await withServer({}, async ({ chat }) => {
    for (const limit of [{ max_tokens: 1 }, { max_completion_tokens: 1 }]) {
      const { body } = await chat({ ...limit, seed: 3, return_token_ids: true })
      assert.is(body.choices[0].token_ids.length, 1)
      assert.is(body.choices[0].finish_reason, body.choices[0].token_ids[0] === 0 ? 'stop' : 'length')
    }
    const full = Array.from({ length: 62 }, () => ({ role: 'user', content: 'x' }))
    assert.is((await chat({ messages: full })).body.usage.completion_tokens, 1)
    const { status, body } = await chat({ messages: [...full, ...full] })
    assert.is(status, 400)
    assert.is(body.error.code, 'context_length_exceeded')
  })
})

test('a later turn goes on from the tokens it was given, and only its new messages are tokenised', async () => {
  await withServer({}, async ({ chat }) => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'abc' },
      { role: 'tool', tool_call_id: 'call_1', content: 'fine' },
    ]
    const { body } = await chat({
      messages,
      prompt_token_ids: [9, 8, 7, 0],
      continuation_from: 2,
      return_token_ids: true,
    })
    assert.equal(body.choices[0].prompt_token_ids, [9, 8, 7, 0, 4])
    const half = await chat({ messages, continuation_from: 2 })
    assert.is(half.status, 400)
    assert.match(half.body.error.message, /belong together/)
    const stranger = await chat({ messages, prompt_token_ids: [32], continuation_from: 2 })
    assert.match(stranger.body.error.message, /token id 32 is out of the vocabulary/)
  })
})

test('texts may come as parts, and null stands for what is left out', async () => {
  await withServer({}, async ({ chat }) => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'h' },
          { type: 'text', text: 'i' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: null },
    ]
    const { status, body } = await chat({ messages, seed: null, tools: null, stream: false, return_token_ids: true })
    assert.is(status, 200)
    assert.equal(body.choices[0].prompt_token_ids, [0, 2, 0])
  })
})

test('what would change the reply and is not there is refused by name', async () => {
  await withServer({}, async ({ chat }) => {
    const cases: readonly [object, string][] = [
      [{ stream: true }, 'stream'],
      [{ n: 2 }, 'n'],
      [{ top_p: 0.9 }, 'top_p'],
      [{ tool_choice: 'required' }, 'tool_choice'],
      [{ stop: ['x'] }, 'stop'],
      [{ response_format: { type: 'json_object' } }, 'response_format'],
    ]
    for (const [extra, param] of cases) {
      const { status, body } = await chat({ ...extra })
      assert.is(status, 400, param)
      assert.is(body.error.param, param)
      assert.is(body.error.type, 'invalid_request_error')
    }
    assert.is((await chat({ n: 1, top_p: 1, user: 'someone', parallel_tool_calls: true })).status, 200)
    const bad = await chat({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'robot', content: 'x' },
      ],
    })
    assert.is(bad.status, 400)
    assert.match(bad.body.error.message, /^messages\[1\]\.role: /)
  })
})

test('an unknown model is 404 in the shape of OpenAI, and the list names those there are', async () => {
  await withServer({ name: 'calc' }, async ({ post, get }) => {
    const { status, body } = await post('/v1/chat/completions', {
      model: 'gpt',
      messages: [{ role: 'user', content: 'x' }],
    })
    assert.is(status, 404)
    assert.is(body.error.code, 'model_not_found')
    assert.match(body.error.message, /there is calc/)
    const list = await get('/v1/models')
    assert.equal(
      list.body.data.map((each: { id: string }) => each.id),
      ['calc'],
    )
    assert.is((await get('/v1/nothing')).status, 404)
  })
})

test('a caller that hangs up cancels its sampling, and nobody else’s', async () => {
  await withServer({}, async ({ chat, server, samplers }) => {
    const [sampler] = samplers
    assert.ok(sampler)
    const [held, release] = makeLatch()
    sampler.hold = held
    const staying = chat({})
    const body = JSON.stringify({ model: server.model, messages: [{ role: 'user', content: 'x' }] })
    const leaving = httpRequest(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    })
    leaving.on('error', () => {}) // It is destroyed below.
    leaving.end(body)
    while (sampler.open() < 2) await new Promise(setImmediate)
    leaving.destroy()
    while (sampler.open() > 1) await new Promise(setImmediate)
    assert.is(sampler.cancelled(), 1)
    release()
    assert.is((await staying).status, 200)
  })
})

test('more completions than may be under way are told to come back, and when', async () => {
  await withServer({ maxInFlight: 1 }, async ({ chat, samplers }) => {
    const [sampler] = samplers
    assert.ok(sampler)
    const [held, release] = makeLatch()
    sampler.hold = held
    const first = chat({})
    while (sampler.open() < 1) await new Promise(setImmediate)
    const { status, headers, body } = await chat({})
    assert.is(status, 429)
    assert.is(headers.get('retry-after'), '1')
    assert.is(body.error.type, 'rate_limit_error')
    release()
    assert.is((await first).status, 200)
    assert.is((await chat({})).status, 200)
  })
})

test('a completion that takes too long is given up', async () => {
  const clock = new VirtualClock()
  await withServer({ clock, sampleDeadlineMs: 1_000 }, async ({ chat, samplers }) => {
    const [sampler] = samplers
    assert.ok(sampler)
    sampler.hold = new Promise(() => {})
    const waiting = chat({})
    while (sampler.open() < 1) await new Promise(setImmediate)
    await clock.advance(1_000)
    const { status, body } = await waiting
    assert.is(status, 504)
    assert.match(body.error.message, /within 1000 ms/)
  })
})

test('a sampler that dies is replaced by one that starts with the head’s weights', async () => {
  await withServer({}, async ({ chat, train, samplers }) => {
    await train('forward-backward', { inputs: [trajectory(1, [3, 0]), trajectory(0, [4, 0])] })
    const { body: step } = await train('optim-step', { learning_rate: 0.1 })
    const [first] = samplers
    assert.ok(first)
    first.sample = async () => {
      throw new TroupeError({ tag: 'policy-thread-lost', message: 'it ended' })
    }
    assert.is((await chat({})).status, 503)
    assert.is((await chat({})).body.system_fingerprint, step.checkpoint_id)
    assert.is(samplers.length, 2)
  })
})

test('closing cancels what is under way, and the callers are told', async () => {
  let pending: Promise<{ status: number }> | undefined
  await withServer({}, async ({ chat, samplers }) => {
    const [sampler] = samplers
    assert.ok(sampler)
    sampler.hold = new Promise(() => {})
    pending = chat({})
    while (sampler.open() < 1) await new Promise(setImmediate)
  })
  assert.is((await pending)?.status, 503)
})

test.run()

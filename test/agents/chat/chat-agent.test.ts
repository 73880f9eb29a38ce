import * as assert from 'uvu/assert'
import { TroupeError } from '../../../src/errors.ts'
import type { FakeStep } from '../../support/fake-chat-server.ts'
import { suite } from '../../support/suite.ts'
import { failureOf, withChat, workspace } from './scene.ts'

const test = suite('the chat agent')

const read = { name: 'read', arguments: { filePath: 'a.txt' } }
const hello = workspace({ 'a.txt': 'hello\n' })

test('a message without tool calls ends it, and its text is the answer', () =>
  withChat([{ text: '42', version: 'v3' }], async ({ server, run }) => {
    const { ended, turns } = run({ prompt: 'What is 6 x 7?', config: { systemPrompt: 'Be brief.' } })
    assert.equal(await ended, { answer: '42', stop: 'done' })
    assert.equal(
      turns.map(({ role, text, version, tokens }) => ({ role, text, version, tokens })),
      [{ role: 'assistant', text: '42', version: 'v3', tokens: undefined }],
    )
    const [request] = server.requests
    assert.is(request?.path, '/v1/chat/completions')
    assert.is(request?.model, 'org/tiny')
    assert.equal(request?.messages, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is 6 x 7?' },
    ])
  }))

test('a server of the user’s own is told what each request is part of, where somebody draws it', () =>
  withChat([{ calls: [read] }, { text: '42' }], async ({ server, run }) => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await run({ shell: hello, traceparent }).ended
    await run({}).ended
    assert.equal(
      server.requests.map(({ headers }) => headers.traceparent),
      [traceparent, traceparent, undefined],
    )
  }))

test('tool calls of one message run in order, each answered by a message of its own', () =>
  withChat(
    [
      {
        text: 'let me see',
        calls: [
          read,
          { name: 'write', arguments: { filePath: 'b.txt', content: 'b' } },
          { name: 'read', arguments: { filePath: 'b.txt' } },
        ],
      },
      { text: 'done' },
    ],
    async ({ server, run }) => {
      const { ended, turns } = run({ shell: hello })
      assert.equal(await ended, { answer: 'done', stop: 'done' })
      assert.equal(
        turns.map(({ role, text, toolCalls }) => [
          role,
          text,
          toolCalls?.map(({ name, result, isError }) => [name, result, isError]),
        ]),
        [
          ['assistant', 'let me see', undefined],
          ['tool', '', [['read', 'hello\n', false]]],
          ['tool', '', [['write', 'ok', false]]],
          ['tool', '', [['read', 'b', false]]],
          ['assistant', 'done', undefined],
        ],
      )
      const [, assistant, ...results] = server.requests[1]?.messages ?? []
      assert.is(assistant?.role === 'assistant' && assistant.tool_calls?.length, 3)
      assert.equal(results, [
        { role: 'tool', tool_call_id: 'call-0-0', content: 'hello\n' },
        { role: 'tool', tool_call_id: 'call-0-1', content: 'ok' },
        { role: 'tool', tool_call_id: 'call-0-2', content: 'b' },
      ])
    },
  ))

test('the tools offered are those asked for, in the order of the catalogue, and none where there is no shell', () =>
  withChat([{ text: 'x' }], async ({ server, run }) => {
    await run().ended
    await run({ config: { tools: ['edit', 'read'] } }).ended
    await run({ shell: 'none' }).ended
    await run({ config: { tools: [] }, shell: 'none' }).ended
    assert.equal(
      server.requests.map(({ tools }) => tools?.map(tool => tool.function.name)),
      [['bash', 'read', 'write', 'edit', 'glob', 'grep'], ['read', 'edit'], undefined, undefined],
    )
  }))

test('it stops after its steps, the calls of the last one carried out', () =>
  withChat([{ calls: [{ name: 'write', arguments: { filePath: 'n', content: '1' } }] }], async ({ server, run }) => {
    const shell = workspace({})
    assert.is((await run({ shell, config: { maxSteps: 3 } }).ended).stop, 'max-steps')
    assert.is(server.requests.length, 3)
    assert.is(await shell.readFile('n'), '1')
    assert.is((await run().ended).stop, 'max-steps')
    assert.is(server.requests.length, 13)
  }))

test('a message cut off at its token limit ends it, and its calls are recorded as not run', () =>
  withChat([{ text: 'I thi', finish: 'length', calls: [read] }], async ({ run }) => {
    const { ended, turns } = run({ shell: hello })
    assert.equal(await ended, { answer: 'I thi', stop: 'length' })
    assert.is(turns[1]?.toolCalls?.[0]?.isError, true)
    assert.match(turns[1]?.toolCalls?.[0]?.result ?? '', /not run/)
  }))

test('a call that cannot be run is told to the model, recorded as an error and replayed as JSON, and the model may go on', () =>
  withChat(
    [
      { calls: [{ name: 'read', arguments: '{"filePath": "a.t' }] },
      { calls: [{ name: 'reed', arguments: {} }] },
      { calls: [read] },
      { calls: [{ name: 'read', arguments: { path: 'a.txt' } }] },
      { calls: [{ name: 'read', arguments: '[1]' }] },
      { text: 'done' },
    ],
    async ({ server, run }) => {
      const { ended, turns } = run({ shell: hello })
      assert.equal(await ended, { answer: 'done', stop: 'done' })
      const results = turns.flatMap(({ toolCalls = [] }) => toolCalls.map(({ result, isError }) => [isError, result]))
      assert.equal(
        results.map(([isError]) => isError),
        [true, true, false, true, true],
      )
      assert.match(String(results[0]?.[1]), /arguments of read are no JSON object/)
      assert.match(String(results[1]?.[1]), /no tool "reed"; there are bash, read/)
      assert.match(String(results[3]?.[1]), /filePath/)
      const last = server.requests.at(-1)?.messages ?? []
      const replayed = last.flatMap(message => (message.role === 'assistant' ? (message.tool_calls ?? []) : []))
      assert.equal(
        replayed.map(call => call.function.arguments),
        ['{}', '{}', JSON.stringify(read.arguments), '{"path":"a.txt"}', '{}'],
      )
      assert.equal(
        last.filter(({ role }) => role === 'tool').map(({ content }) => content),
        results.map(([, result]) => result),
      )
    },
  ))

test('three such steps in a row, or one that is the last allowed, are why it stopped', () =>
  withChat([{ text: 'hm', calls: [{ name: 'read', arguments: '{' }] }], async ({ server, run }) => {
    assert.equal(await run().ended, { answer: 'hm', stop: 'malformed-tool-call' })
    assert.is(server.requests.length, 3)
    assert.is((await run({ config: { maxSteps: 1 } }).ended).stop, 'malformed-tool-call')
    assert.equal(await run({ config: { maxMalformed: 1 } }).ended, { answer: 'hm', stop: 'malformed-tool-call' })
  }))

test('a tool call where no tool was offered is answered that there are none', () =>
  withChat([{ calls: [read] }, { text: 'then 5' }], async ({ run }) => {
    const { ended, turns } = run({ shell: 'none' })
    assert.is((await ended).answer, 'then 5')
    assert.match(turns[1]?.toolCalls?.[0]?.result ?? '', /there are none/)
  }))

test('chat messages are a prompt too, with text in parts, and anything else is refused', () =>
  withChat([{ text: 'x' }], async ({ server, run }) => {
    const prompt = [
      { role: 'system', content: 'You add.' },
      { role: 'user', content: { type: 'text', text: '1 + 1' } },
      { role: 'assistant', content: '2' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '2 +' },
          { type: 'text', text: '2' },
        ],
      },
    ]
    await run({ prompt }).ended
    assert.equal(
      server.requests[0]?.messages.map(({ role, content }) => [role, content]),
      [
        ['system', 'You add.'],
        ['user', '1 + 1'],
        ['assistant', '2'],
        ['user', '2 +\n2'],
      ],
    )
    for (const bad of [
      null,
      5,
      [],
      [{ role: 'user' }],
      [{ role: 'tool', content: 'x' }],
      [{ content: { type: 'image' } }],
    ])
      assert.is((await failureOf(run({ prompt: bad }).ended)).tag, 'bad-prompt')
    assert.is(server.requests.length, 1)
  }))

test('an image is shown in place, among the texts of its message', () =>
  withChat([{ text: 'a cat' }], async ({ server, run }) => {
    const prompt = [
      { role: 'user', content: ['What is it?', { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] },
    ]
    await run({ prompt }).ended
    assert.equal(server.requests[0]?.raw.messages, [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
    ])
  }))

const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }

test('a schema is said in the prompt, the server is held to it where no tools are offered, and the JSON is the answer', () =>
  withChat([{ text: '{"sum": 4}' }], async ({ server, run }) => {
    const plain = await run({ prompt: 'add', returns: sum, shell: 'none' }).ended
    assert.equal(plain, { answer: { sum: 4 }, stop: 'done' })
    const [first] = server.requests
    assert.match(first?.messages[0]?.content ?? '', /^add\n\n.*JSON Schema:\n\{"type":"object"/)
    assert.equal(first?.raw.response_format, { type: 'json_schema', json_schema: { name: 'answer', schema: sum } })
    for (const options of [
      { returns: sum },
      { returns: { type: 'number' }, shell: 'none' },
      { returns: sum, shell: 'none', config: { answers: 'asked' } },
    ] as const) {
      await run(options).ended
      assert.not('response_format' in (server.requests.at(-1)?.raw ?? {}))
      assert.match(server.requests.at(-1)?.messages[0]?.content ?? '', /JSON Schema/)
    }
    const asSaid = await run({ returns: sum, config: { answers: 'as-said' } }).ended
    assert.equal([asSaid.answer, server.requests.at(-1)?.messages[0]?.content], ['{"sum": 4}', 'go'])
    const own = { type: 'json_object' }
    await run({ returns: sum, shell: 'none', config: { completionKwargs: { response_format: own } } }).ended
    assert.equal(server.requests.at(-1)?.raw.response_format, own)
  }))

test('an answer that is no JSON stays as it was said', () =>
  withChat([{ text: 'about four' }], async ({ run }) => {
    assert.is((await run({ returns: sum }).ended).answer, 'about four')
  }))

test('each turn has its seed, drawn from the rollout’s, unless the config has one, or null for none', () =>
  withChat([{ calls: [read] }, { text: 'x' }], async ({ server, run }) => {
    const seeds = async (seed: number, kwargs: Record<string, number | null> = {}) => {
      const before = server.requests.length
      server.script = (_request, index) => (index === before ? { calls: [read] } : { text: 'x' })
      await run({ seed, shell: hello, config: { completionKwargs: kwargs } }).ended
      return server.requests.slice(before).map(request => request.seed)
    }
    const first = await seeds(7)
    assert.is(new Set(first).size, 2)
    assert.equal(await seeds(7), first)
    assert.not.equal(await seeds(8), first)
    assert.equal(await seeds(7, { seed: 3 }), [3, 3])
    assert.equal(await seeds(7, { seed: null }), [undefined, undefined])
  }))

test('what is asked of the completion goes into the body as it is, extra_body at the top', () =>
  withChat([{ text: 'x' }], async ({ server, run }) => {
    await run({ config: { completionKwargs: { max_tokens: 5, temperature: 0.5, extra_body: { top_k: 3 } } } }).ended
    const { max_tokens, temperature, top_k, extra_body, logprobs, return_token_ids } = server.requests[0]?.raw ?? {}
    assert.equal(
      [max_tokens, temperature, top_k, extra_body, logprobs, return_token_ids],
      [5, 0.5, 3, undefined, undefined, undefined],
    )
  }))

test('a shell that is lost ends the rollout with its own error, not with words to the model', () =>
  withChat([{ calls: [read] }], async ({ server, run }) => {
    const lost = new TroupeError({ tag: 'shell-lost', message: 'cut', transient: true })
    const shell = { ...hello, readFile: () => Promise.reject(lost) }
    const { ended, turns } = run({ shell })
    assert.is(await failureOf(ended), lost)
    assert.equal([turns.length, server.requests.length], [1, 1])
  }))

for (const turns of [0, 1])
  test(`an abort ends it while it waits for completion ${turns + 1}: ${turns === 0 ? 'a model that never spoke was not there' : 'with the reason given'}`, () => {
    const call: FakeStep = { calls: [{ name: 'read', arguments: { filePath: 'x' } }] }
    const script = [...Array<FakeStep>(turns).fill(call), { after: new Promise(() => {}), reply: {} }]
    return withChat(script, async ({ server, run }) => {
      const controller = new AbortController()
      const { ended } = run({ signal: controller.signal })
      while (server.requests.length <= turns) await new Promise(resolve => setImmediate(resolve))
      const reason = new TroupeError({ tag: 'phase-deadline', message: 'enough' })
      controller.abort(reason)
      const error = await failureOf(ended)
      if (turns > 0) return assert.is(error, reason)
      assert.equal(
        [error.tag, error.data.transient, error.data.cause?.tag],
        ['chat-unavailable', undefined, reason.tag],
      )
      assert.match(error.message, /never answered.*enough/)
    })
  })

test.run()

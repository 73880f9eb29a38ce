import * as assert from 'uvu/assert'
import { makeOpenAiAgent } from '../../../src/agents/openai/openai-agent.ts'
import { makePlainWorkspace } from '../../support/plain-workspace.ts'
import { suite } from '../../support/suite.ts'
import { workspace } from '../chat/scene.ts'
import { type SdkCase, sdkContract, withSdk } from '../sdk/contract.ts'
import { MODEL, openAiEvents, openAiStep } from './responses.ts'

const test = suite('the OpenAI agent')

const failure = (code: string) => ({
  event: 'response.failed',
  data: {
    type: 'response.failed',
    sequence_number: 9,
    response: { id: 'resp_01', object: 'response', status: 'failed', error: { code, message: 'not now' }, output: [] },
  },
})

const sdk: SdkCase = {
  path: '/responses',
  make: makeOpenAiAgent,
  say: text => openAiEvents({ text }),
  call: given => openAiEvents({ calls: [{ name: 'write', arguments: given }] }),
  passing: failure('server_error'),
}

sdkContract(test, 'openai', sdk)

test('messages keep their roles, images are shown, and the service is held to a schema of an object', () =>
  withSdk(sdk, [openAiStep({ text: '{"cats": 1}' })], async ({ server, run }) => {
    const prompt = [
      { role: 'assistant', content: 'Show me.' },
      { role: 'user', content: ['This:', { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] },
    ]
    const returns = { type: 'object', properties: { cats: { type: 'integer' } } }
    assert.equal((await run({ prompt, returns }).ended).answer, { cats: 1 })
    const { input, text } = server.requests[0]?.body ?? {}
    assert.ok(Array.isArray(input))
    assert.equal(input[0], { role: 'assistant', content: 'Show me.' })
    assert.equal(input[1].content.slice(0, 2), [
      { type: 'input_text', text: 'This:' },
      { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
    ])
    assert.equal(text, { format: { type: 'json_schema', name: 'answer', schema: returns, strict: false } })
    await run({ returns: { type: 'number' } }).ended
    assert.not('text' in (server.requests[1]?.body ?? {}))
  }))

test('the tools are functions with their schemas, nothing is stored there, and reasoning is asked for sealed', () =>
  withSdk(sdk, [openAiStep({ text: 'x' })], async ({ server, run }) => {
    const config = { model: 'gpt-5.1', tools: ['write'], systemPrompt: 'Be brief.', request: { max_output_tokens: 99 } }
    await run({ config }).ended
    const { tools, ...rest } = server.requests[0]?.body ?? {}
    assert.equal(rest, {
      model: 'gpt-5.1',
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'go' },
      ],
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 99,
    })
    const [write] = tools as { readonly parameters: { readonly required: unknown }; readonly [key: string]: unknown }[]
    assert.equal([write?.type, write?.name, write?.strict], ['function', 'write', false])
    assert.equal(write?.parameters.required, ['filePath', 'content'])
    await run({ config: { model: 'gpt-4.1' } }).ended
    assert.not('include' in (server.requests[1]?.body ?? {}))
  }))

test('what it reasoned, said and called goes back as it was, with the results of its calls', () =>
  withSdk(
    sdk,
    [
      openAiStep({
        reasoning: 'sealed',
        text: 'look',
        calls: [
          { name: 'write', arguments: { filePath: 'a', content: 'x' }, id: 'c1' },
          { name: 'nothing', arguments: {}, id: 'c2' },
        ],
      }),
      openAiStep({ text: 'done' }),
    ],
    async ({ server, run }) => {
      const shell = workspace({})
      const { turns, ended } = run({ shell })
      assert.equal(await ended, { answer: 'done', stop: 'done' })
      assert.is(await shell.readFile('a'), 'x')
      const input = server.requests[1]?.body.input as { readonly type: string; readonly [key: string]: unknown }[]
      assert.equal(
        input.slice(1).map(({ type, call_id: id, encrypted_content: sealed }) => [type, id ?? sealed]),
        [
          ['reasoning', 'sealed'],
          ['message', undefined],
          ['function_call', 'c1'],
          ['function_call', 'c2'],
          ['function_call_output', 'c1'],
          ['function_call_output', 'c2'],
        ],
      )
      assert.match(String(input.at(-1)?.output), /there is no tool "nothing"; there are bash, read/)
      assert.equal(
        turns.map(({ role, text, version }) => [role, text, version]),
        [
          ['assistant', 'look', MODEL],
          ['tool', '', undefined],
          ['tool', '', undefined],
          ['assistant', 'done', MODEL],
        ],
      )
    },
  ))

test('what it reasoned is not sent back unsealed: nobody there would know it', () =>
  withSdk(
    sdk,
    [openAiStep({ reasoning: 'unsealed', calls: [{ name: 'write', arguments: {} }] }), openAiStep({ text: 'x' })],
    async ({ server, run }) => {
      await run().ended
      assert.not.match(JSON.stringify(server.requests[1]?.body), 'reasoning')
    },
  ))

test('the native shell takes the place of bash, and answers in its own form', async () => {
  const place = await makePlainWorkspace()
  try {
    await withSdk(
      sdk,
      [openAiStep({ commands: ['echo out', 'echo err >&2; exit 2'] }), openAiStep({ text: 'done' })],
      async ({ server, run }) => {
        const { turns, ended } = run({ shell: place.shell, config: { shell: 'native' } })
        await ended
        const tools = server.requests[0]?.body.tools as { readonly type: string; readonly name?: string }[]
        assert.equal(tools[0], { type: 'shell', environment: { type: 'local' } })
        assert.not(tools.some(({ name }) => name === 'bash'))
        const input = server.requests[1]?.body.input as unknown[]
        assert.equal(input.at(-1), {
          type: 'shell_call_output',
          call_id: 'call_sh',
          output: [
            { stdout: 'out\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
            { stdout: '', stderr: 'err\n', outcome: { type: 'exit', exit_code: 2 } },
          ],
        })
        assert.equal(turns[1]?.toolCalls?.[0]?.result, 'out\n\nerr\nexit status 2')
      },
    )
  } finally {
    await place.close()
  }
})

test('a response cut at its limit ends the rollout', () =>
  withSdk(sdk, [openAiStep({ text: 'half', cut: true })], async ({ run }) => {
    assert.equal(await run().ended, { answer: 'half', stop: 'length' })
  }))

test('a response that the service gives up for good is not asked again', () =>
  withSdk(sdk, [{ events: [failure('invalid_prompt')] }], async ({ server, run }) => {
    const error = await run().ended.catch((thrown: unknown) => thrown)
    assert.match(String(error), /gave it up \(invalid_prompt\): not now/)
    assert.is(server.requests.length, 1)
  }))

test.run()

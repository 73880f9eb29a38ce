import * as assert from 'uvu/assert'
import { makeClaudeAgent } from '../../../src/agents/claude/claude-agent.ts'
import { suite } from '../../support/suite.ts'
import { failureOf, workspace } from '../chat/scene.ts'
import { type SdkCase, sdkContract, withSdk } from '../sdk/contract.ts'
import { claudeEvents, claudeStep, MODEL } from './messages.ts'

const test = suite('the Claude agent')
const EDITOR = 'str_replace_based_edit_tool'

const sdk: SdkCase = {
  path: '/v1/messages',
  make: makeClaudeAgent,
  say: text => claudeEvents({ text }),
  call: input => claudeEvents({ calls: [{ name: EDITOR, input }] }),
  passing: { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } },
}

sdkContract(test, 'claude', sdk)

test('the native tools are offered by their types, the limits as the config says, the system apart', () =>
  withSdk(sdk, [claudeStep({ text: 'x' })], async ({ server, run }) => {
    const config = { systemPrompt: 'Be brief.', maxTokens: 99, request: { temperature: 0.5 } }
    await run({ config, prompt: [{ role: 'system', content: 'Here.' }, 'go'] }).ended
    assert.equal(server.requests[0]?.body, {
      model: 'm',
      max_tokens: 99,
      messages: [{ role: 'user', content: 'go' }],
      stream: true,
      system: 'Be brief.\n\nHere.',
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'text_editor_20250728', name: EDITOR },
      ],
      temperature: 0.5,
    })
    await run({ config: { tools: [] } }).ended
    assert.not('tools' in (server.requests[1]?.body ?? {}))
  }))

test('messages keep their roles, images are shown as the service takes them, and what it does not take is told', () =>
  withSdk(sdk, [claudeStep({ text: '```json\n{"cats": 1}\n```' })], async ({ server, run }) => {
    const png = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
    const prompt = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: 'At what?' },
      { role: 'user', content: ['This:', png, { type: 'image_url', image_url: 'https://example.com/a.png' }] },
    ]
    const returns = { type: 'object', properties: { cats: { type: 'integer' } } }
    assert.equal((await run({ prompt, returns }).ended).answer, { cats: 1 })
    const messages = server.requests[0]?.body.messages
    assert.ok(Array.isArray(messages))
    const [first, second, third] = messages
    assert.equal([first, second], prompt.slice(0, 2))
    assert.equal(third.content.slice(0, 3), [
      { type: 'text', text: 'This:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ])
    assert.match(third.content[3].text, /JSON Schema/)
    const bmp = run({ prompt: [{ content: { ...png, mimeType: 'image/bmp' } }] }).ended
    assert.is((await failureOf(bmp)).tag, 'bad-prompt')
  }))

test('what it said, thought and called goes back as it was, each result with its call, up to a cache point', () =>
  withSdk(
    sdk,
    [
      claudeStep({
        thinking: 'hm',
        text: 'look',
        calls: [
          { name: EDITOR, input: { command: 'create', path: 'a', file_text: 'x' }, id: 't1' },
          { name: EDITOR, input: { command: 'insert', path: 'gone', insert_line: 0, insert_text: 'x' }, id: 't2' },
        ],
      }),
      claudeStep({ text: 'done' }),
    ],
    async ({ server, run }) => {
      const shell = workspace({})
      const { turns, ended } = run({ shell })
      assert.equal(await ended, { answer: 'done', stop: 'done' })
      assert.is(await shell.readFile('a'), 'x')
      const messages = server.requests[1]?.body.messages as unknown[]
      assert.equal(messages.slice(1), [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sealed' },
            { type: 'text', text: 'look' },
            { type: 'tool_use', id: 't1', name: EDITOR, input: { command: 'create', path: 'a', file_text: 'x' } },
            {
              type: 'tool_use',
              id: 't2',
              name: EDITOR,
              input: { command: 'insert', path: 'gone', insert_line: 0, insert_text: 'x' },
            },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'a was written', is_error: false },
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: 'error: cannot read gone: no such file',
              is_error: true,
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ])
      assert.equal(
        turns.map(({ role, text, version, toolCalls }) => [role, text, version, toolCalls?.[0]?.isError]),
        [
          ['assistant', 'look', MODEL, undefined],
          ['tool', '', undefined, false],
          ['tool', '', undefined, true],
          ['assistant', 'done', MODEL, undefined],
        ],
      )
    },
  ))

test('a library prints nothing, whatever its SDK thinks of a model', () =>
  withSdk(sdk, [claudeStep({ text: 'x' })], async ({ run }) => {
    const printed: unknown[] = []
    const { warn } = console
    console.warn = (...words: unknown[]) => void printed.push(...words)
    try {
      await run({ config: { model: 'claude-sonnet-4-5' } }).ended
    } finally {
      console.warn = warn
    }
    assert.equal(printed, [])
  }))

test('a message cut at its limit ends the rollout, and its calls are not run', () =>
  withSdk(
    sdk,
    [claudeStep({ text: 'half', calls: [{ name: 'bash', input: '{"comm' }], stop: 'max_tokens' })],
    async ({ run }) => {
      const { turns, ended } = run()
      assert.equal(await ended, { answer: 'half', stop: 'length' })
      assert.match(turns[1]?.toolCalls?.[0]?.result ?? '', 'not run')
    },
  ))

test('it stops at its steps, and says so', () =>
  withSdk(sdk, [claudeStep({ calls: [{ name: 'bash', input: { restart: true } }] })], async ({ server, run }) => {
    assert.is((await run({ config: { maxSteps: 2 } }).ended).stop, 'max-steps')
    assert.is(server.requests.length, 2)
  }))

test.run()

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { ChatMessage, ChatTool } from '../../src/models/chat.ts'
import { makeChatFormat } from '../../src/policy/chat-format.ts'
import { learnTokenizer, makeTokenizer } from '../../src/policy/tokenizer.ts'
import { suite } from '../support/suite.ts'

const test = suite('chat format')

const tokenizer = makeTokenizer(learnTokenizer(['read calc.py', 'def mean(xs):\n    return 1\n'], 10))
const { special, encode } = tokenizer
const format = makeChatFormat(tokenizer, { context: 96 })

const tool = (name: string, properties: Record<string, Record<string, unknown>>, required: string[]): ChatTool => ({
  type: 'function',
  function: { name, description: '', parameters: { type: 'object', properties, required } },
})
const TOOLS = [
  tool('read', { filePath: { type: 'string' }, offset: { type: 'integer' }, limit: { type: 'integer' } }, ['filePath']),
  tool('tune', { on: { type: 'boolean' }, rate: { type: 'number' }, more: { type: 'object' } }, ['on', 'rate']),
]

test('a prompt is each message behind its role, then the assistant', () => {
  const prompt = format.toPrompt(
    [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'go' },
    ],
    TOOLS,
  )
  assert.equal(
    [...prompt],
    [special('<system>'), ...encode('be brief'), special('<user>'), ...encode('go'), special('<assistant>')],
  )
})

test('a reply is put into tokens and back', () => {
  const text = fc.string({ unit: 'binary' })
  const read = fc.record({ filePath: text, offset: fc.integer(), limit: fc.integer() }, { requiredKeys: ['filePath'] })
  const tune = fc.record(
    {
      on: fc.boolean(),
      rate: fc.double({ noNaN: true, noDefaultInfinity: true }),
      more: fc.dictionary(text, fc.integer()),
    },
    { requiredKeys: ['on', 'rate'] },
  )
  const call = fc.oneof(
    read.map(value => ({ name: 'read', arguments: value })),
    tune.map(value => ({ name: 'tune', arguments: value })),
  )
  fc.assert(
    fc.property(text, fc.array(call, { maxLength: 4 }), (content, toolCalls) => {
      const decoded = format.toReply(format.toOutput({ content, toolCalls }, TOOLS), TOOLS)
      assert.is(decoded.content, content)
      assert.equal(
        decoded.calls.map(({ name, arguments: given }) => ({ name, arguments: JSON.parse(given) })),
        JSON.parse(JSON.stringify(toolCalls)),
      )
    }),
  )
})

test('values stand in the order of the schema, each behind the mark of its place, and what is left out takes no token', () => {
  const output = format.toOutput(
    { content: '', toolCalls: [{ name: 'read', arguments: { limit: 3, filePath: 'calc.py' } }] },
    TOOLS,
  )
  const [call, path, limit, eot] = [special('<call>'), special('<arg1>'), special('<arg3>'), special('<eot>')]
  assert.equal([...output], [call, ...encode('read'), path, ...encode('calc.py'), limit, ...encode('3'), eot])
})

test('a call that has no form in tokens is refused', () => {
  for (const call of [
    { name: 'none', arguments: {} },
    { name: 'read', arguments: { filePath: 'a', stranger: 1 } },
    { name: 'read', arguments: { offset: 1 } },
    { name: 'tune', arguments: { on: 'yes', rate: 1 } },
  ])
    assert.throws(
      () => format.toOutput({ content: '', toolCalls: [call] }, TOOLS),
      (error: unknown) => hasTag(error, 'not-encodable'),
    )
})

test('whatever a model puts out decodes, and calls that do not fit say what there is', () => {
  const token = fc.oneof(fc.integer({ min: 0, max: tokenizer.vocabulary + 5 }), fc.integer({ min: 0, max: 7 }))
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), ids => {
      for (const call of format.toReply(Uint32Array.from(ids), TOOLS).calls) {
        assert.type(call.arguments, 'string')
        if (TOOLS.every(each => each.function.name !== call.name)) assert.throws(() => JSON.parse(call.arguments))
      }
    }),
  )
  const [call, arg1, arg2] = [special('<call>'), special('<arg1>'), special('<arg2>')]
  const decode = (...ids: number[]) => format.toReply(Uint32Array.from(ids), TOOLS).calls[0]
  assert.equal(decode(call, ...encode('read'), arg1, ...encode('a'), arg2, ...encode('x')), {
    name: 'read',
    arguments: '<arg1>a<arg2>x',
  })
  assert.equal(decode(call, ...encode('read'), arg1, ...encode('a'), arg1, ...encode('b')), {
    name: 'read',
    arguments: '<arg1>a<arg1>b',
  })
  assert.equal(decode(call, ...encode('shell'), arg1, ...encode('ls')), { name: 'shell', arguments: '<arg1>ls' })
  assert.equal(decode(call, ...encode('tune'), arg1, ...encode('true')), { name: 'tune', arguments: '<arg1>true' })
})

const messageLists = fc.array(
  fc.oneof(
    fc.record({ role: fc.constantFrom('system' as const, 'user' as const), content: fc.string({ maxLength: 60 }) }),
    fc.record({
      role: fc.constant('tool' as const),
      tool_call_id: fc.constant('c'),
      content: fc.string({ maxLength: 60 }),
    }),
  ),
  { minLength: 1, maxLength: 4 },
)

test('the window is the same from messages and from the tokens of earlier turns', () => {
  fc.assert(
    fc.property(fc.array(messageLists, { minLength: 2, maxLength: 4 }), fc.boolean(), (turns, isCut) => {
      const messages: ChatMessage[] = []
      let covered: { tokens: Uint32Array; from: number } | undefined
      for (const turn of turns) {
        messages.push(...turn)
        const prompt = format.toPrompt(messages, TOOLS, covered)
        assert.equal(prompt, format.toPrompt(messages, TOOLS))
        assert.equal(prompt, format.toPrompt(turn, TOOLS), 'only what came after the last reply is seen')
        const output = format.toOutput({ content: 'done', toolCalls: [] }, TOOLS)
        const tokens = Uint32Array.from([...prompt, ...(isCut ? output.slice(0, -1) : output)])
        messages.push({ role: 'assistant', content: 'done' })
        covered = { tokens, from: messages.length }
      }
    }),
  )
})

test('tokens that end without a reply are kept as they are, whatever text they stand for', () => {
  const first: ChatMessage[] = [
    { role: 'user', content: 'one' },
    { role: 'tool', tool_call_id: 'c', content: 'two' },
  ]
  const more: ChatMessage = { role: 'user', content: 'three' }
  const tokens = format.toPrompt(first, TOOLS)
  const kept = format.toPrompt([{ role: 'user', content: 'CHANGED' }, first[1] ?? more, more], TOOLS, {
    tokens,
    from: 2,
  })
  assert.equal(kept, format.toPrompt([...first, more], TOOLS))
})

test('a prompt leaves a third of the context, however long and many its messages are', () => {
  const limit = 64
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.constantFrom('a', 'é\n')), {
        minLength: 1,
        maxLength: 50,
      }),
      sizes => {
        const messages = sizes.map(([size, letter]): ChatMessage => ({ role: 'user', content: letter.repeat(size) }))
        const prompt = format.toPrompt(messages, TOOLS)
        assert.ok(prompt.length <= limit, `${prompt.length}`)
        assert.is(prompt.at(-1), special('<assistant>'))
        assert.is(prompt[0], special('<user>'))
      },
    ),
  )
})

test('short messages stay whole beside a long one, which keeps its head and its tail', () => {
  const long = `BEGIN${'x'.repeat(10_000)}END`
  const prompt = format.toPrompt(
    [
      { role: 'tool', tool_call_id: 'a', content: long },
      { role: 'tool', tool_call_id: 'b', content: 'short' },
    ],
    TOOLS,
  )
  const text = tokenizer.decode(prompt)
  assert.match(text, /^<tool>BEGINx+END<tool>short<assistant>$/)
  assert.is(prompt.length, 64)
})

test.run()

import * as assert from 'uvu/assert'
import { answerWords, promptMessages, promptText } from '../../src/agents/prompt.ts'
import { toUrl } from '../../src/agents/prompt-part.ts'
import { readAnswer } from '../../src/agents/read-answer.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'

const test = suite('prompts')

const PIXEL = 'iVBORw0KGgo='
const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }

test('text is one user message; messages keep their roles, and neighbouring texts become one', () => {
  assert.equal(promptMessages('go'), [{ role: 'user', content: 'go' }])
  const prompt = [
    { role: 'developer', content: 'Here.' },
    'go',
    { role: 'assistant', content: { type: 'text', text: 'and?' } },
    { content: [{ type: 'text', text: 'on' }, 'and on', { type: 'resource', resource: { uri: 'f:', text: 'file' } }] },
  ]
  assert.equal(promptMessages(prompt, { systemPrompt: 'Be brief.' }), [
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Here.' },
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'and?' },
    { role: 'user', content: 'on\nand on\nfile' },
  ])
  assert.is(promptText(prompt), 'Here.\n\ngo\n\nand?\n\non\nand on\nfile')
})

test('images are read as MCP, Anthropic and OpenAI write them', () => {
  const url = `data:image/png;base64,${PIXEL}`
  const image = { type: 'image', mediaType: 'image/png', data: PIXEL } as const
  const far = { type: 'image-url', url: 'https://example.com/a.png' } as const
  for (const [block, part] of [
    [{ type: 'image', data: PIXEL, mimeType: 'image/png' }, image],
    [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }, image],
    [{ type: 'image', source: { type: 'url', url: far.url } }, far],
    [{ type: 'image_url', image_url: { url } }, image],
    [{ type: 'image_url', image_url: far.url }, far],
    [{ type: 'input_image', image_url: url }, image],
  ] as const)
    assert.equal(promptMessages([{ role: 'user', content: [{ type: 'text', text: 'see' }, block] }]), [
      { role: 'user', content: [{ type: 'text', text: 'see' }, part] },
    ])
  assert.equal([toUrl(image), toUrl(far)], [url, far.url])
})

test('what no model can be shown is refused, and told by its place and kind', () => {
  for (const [prompt, words] of [
    [null, /it is null/],
    [5, /of type number/],
    [[], /it has no message/],
    [[{ role: 'user' }], /message 1 has no content/],
    [['a', { role: 'tool', content: 'x' }], /message 2 has the role "tool"/],
    [[{ content: { type: 'audio', data: 'x', mimeType: 'audio/wav' } }], /message 1 holds a block of type "audio"/],
    [[{ content: [{ type: 'image' }] }], /a block of type "image"/],
    [[{ role: 'system', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } }], /only messages of the user/],
  ] as const)
    assert.throws(
      () => promptMessages(prompt),
      (error: unknown) => hasTag(error, 'bad-prompt') && words.test(error.message),
    )
  const shown = [{ content: { type: 'image', data: PIXEL, mimeType: 'image/png' } }]
  assert.throws(
    () => promptText(shown),
    (error: unknown) => hasTag(error, 'bad-prompt') && /text alone/.test(error.message),
  )
})

test('a schema is said at the end of what the user says last; any text fits one of plain text', () => {
  const words = answerWords({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema })
  assert.match(words ?? '', JSON.stringify(schema))
  assert.equal(promptMessages('go', { returns: schema }), [{ role: 'user', content: `go\n\n${words}` }])
  assert.equal(promptMessages([{ role: 'assistant', content: 'so' }], { returns: schema }).at(-1), {
    role: 'user',
    content: words,
  })
  const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }
  const last = promptMessages([{ content: [image] }], { returns: schema }).at(-1)
  assert.equal(Array.isArray(last?.content) && last.content.at(-1), { type: 'text', text: words })
  assert.equal(promptMessages('go', { returns: { type: 'string' } }), [{ role: 'user', content: 'go' }])
  assert.match(answerWords({ type: 'string', enum: ['a', 'b'] }) ?? '', '"enum":["a","b"]')
})

test('an answer is the JSON in what was said, fenced or not, and else what was said', () => {
  for (const [said, answer] of [
    ['{"sum": 4}', { sum: 4 }],
    [' 42 ', 42],
    ['Here you are:\n```json\n{"sum": 4}\n```\nDone.', { sum: 4 }],
    ['```\n[1]\n```\nor better\n```\n[2]\n```', [2]],
    ['four', 'four'],
    ['{"sum": 4', '{"sum": 4'],
    ['', ''],
  ] as const)
    assert.equal(readAnswer(said, schema), answer)
  assert.is(readAnswer('{"sum": 4}', undefined), '{"sum": 4}')
  assert.is(readAnswer('42', { type: 'string' }), '42')
})

test.run()

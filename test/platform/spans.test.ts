import * as assert from 'uvu/assert'
import { toUploads } from '../../src/platform/spans.ts'
import { toSteps } from '../../src/platform/steps.ts'
import { noteSecret } from '../../src/redact.ts'
import { suite } from '../support/suite.ts'
import { headerOf, trajectoryOf } from './support/runs.ts'
import * as wire from './support/wire.ts'

const test = suite('platform spans')
const TRACE = '0123456789abcdef0123456789abcdef'
const parse = (json: string) => wire.upload.parse(JSON.parse(json)).telemetry

function stepsOf(turns: number, text = 'words') {
  const said = Array.from({ length: turns }, (_, index) => ({
    role: 'assistant' as const,
    text,
    atMs: index,
    tookMs: 1,
  }))
  return toSteps(headerOf(), trajectoryOf({ turns: said }), { samples: false, model: undefined })
}

test('spans are batched by count', () => {
  const batches = [...toUploads(stepsOf(247), TRACE)].map(parse)
  assert.equal(
    batches.map(batch => batch.length),
    [100, 100, 50],
  )
  assert.equal(
    batches.flat().map(span => span.attributes['hud.payload'].step_id),
    Array.from({ length: 250 }, (_, index) => index + 1),
  )
})

test('and by bytes; one that is larger than a batch goes alone', () => {
  const limits = { spans: 100, bytes: 5_000 }
  const small = [...toUploads(stepsOf(20), TRACE, limits)]
  assert.ok(small.length > 1)
  for (const json of small) assert.ok(Buffer.byteLength(json) < 5_100, String(Buffer.byteLength(json)))
  const large = [...toUploads(stepsOf(3, 'x'.repeat(6_000)), TRACE, limits)].map(parse)
  assert.equal(
    large.map(batch => batch.length),
    [2, 1, 1, 1, 1],
  )
})

test('what is sent again has the ids that it had', () => {
  const ids = () => [...toUploads(stepsOf(3), TRACE)].flatMap(parse).map(span => span.span_id)
  assert.equal(ids(), ids())
  assert.is(new Set(ids()).size, 6)
})

test('no span has a secret in it, wherever it was said', () => {
  const secret = 'hunter2-hunter2-hunter2'
  noteSecret(secret)
  const header = headerOf({ task: { env: 'e', id: 't', args: { deep: [{ of: secret }] }, slug: 't' } })
  const turns = [
    { role: 'assistant' as const, text: `my key is ${secret}`, atMs: 0, tookMs: 1 },
    {
      role: 'tool' as const,
      text: '',
      atMs: 1,
      tookMs: 1,
      toolCalls: [
        {
          name: 'bash',
          arguments: { command: `echo ${secret}` },
          result: `${secret}\nBearer abcdefghijkl`,
          isError: false,
        },
      ],
    },
  ]
  const trajectory = trajectoryOf({
    prompt: `use ${secret}`,
    turns,
    answer: secret,
    grade: { score: 1, content: secret },
  })
  const text = [...toUploads(toSteps(header, trajectory, { samples: false, model: undefined }), TRACE)].join('')
  assert.ok(!text.includes(secret) && !text.includes('abcdefghijkl'))
  assert.ok(text.includes('[hidden]'))
})

test('what JSON does not know is put into words, and stops nothing', () => {
  const answer = { big: 12345678901234567890n, bytes: Uint8Array.of(1, 2, 3), none: Number.NaN }
  const steps = toSteps(headerOf(), trajectoryOf({ answer }), { samples: false, model: undefined })
  const [spans] = [...toUploads(steps, TRACE)].map(parse)
  assert.equal(spans?.at(-1)?.attributes['hud.payload'].task_call?.arguments, {
    answer: { big: '12345678901234567890', bytes: '<3 bytes>', none: null },
  })
})

test.run()

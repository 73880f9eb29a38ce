import * as assert from 'uvu/assert'
import { isOwnEndpoint, tracingHeaders } from '../../src/agents/own-endpoint.ts'
import { suite } from '../support/suite.ts'

const test = suite('whose endpoint a model is at')

test('one that a config names is the user’s own, unless it is a vendor’s', () => {
  for (const url of ['http://127.0.0.1:8000/v1', 'https://models.example/v1', 'https://not-openai.com/v1'])
    assert.ok(isOwnEndpoint(url), url)
  for (const url of [
    undefined,
    'https://api.openai.com/v1',
    'https://api.anthropic.com',
    'https://inference.hud.ai/v1',
    'https://openai.com/v1',
    'no url',
  ])
    assert.not(isOwnEndpoint(url), String(url))
})

test('only such a one is told what a request is part of', () => {
  assert.equal(tracingHeaders(true, '00-a-b-01'), { traceparent: '00-a-b-01' })
  assert.equal(tracingHeaders(false, '00-a-b-01'), {})
  assert.equal(tracingHeaders(true, undefined), {})
})

test.run()

import * as assert from 'uvu/assert'
import { toTracesUrl } from '../../../src/telemetry/traces/traces-url.ts'
import { suite } from '../../support/suite.ts'

const test = suite('where traces are sent')

test('a receiver is named by its place or by its whole URL', () => {
  assert.is(toTracesUrl('http://127.0.0.1:4318'), 'http://127.0.0.1:4318/v1/traces')
  assert.is(toTracesUrl('https://otlp.example/'), 'https://otlp.example/v1/traces')
  assert.is(toTracesUrl('https://otlp.example/otlp/v1/traces'), 'https://otlp.example/otlp/v1/traces')
})

test('what is no receiver is refused, and so is what would show a secret', () => {
  for (const [text, why] of [
    ['4318', /no URL/],
    ['localhost:4318', /neither http nor https/],
    ['grpc://localhost:4317', /neither http nor https/],
    ['http://user:word@localhost:4318', /OTEL_EXPORTER_OTLP_HEADERS/],
    ['http://localhost:4318/?key=abc', /OTEL_EXPORTER_OTLP_HEADERS/],
  ] as const)
    assert.throws(() => toTracesUrl(text), why, text)
})

test.run()

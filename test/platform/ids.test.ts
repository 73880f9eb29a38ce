import * as assert from 'uvu/assert'
import { dashed, freshUuid, isUuid, namedUuid, spanId } from '../../src/platform/ids.ts'
import { suite } from '../support/suite.ts'

const test = suite('platform ids')
const DNS = '6ba7b8109dad11d180b400c04fd430c8'

test('a named UUID is the one that the standard gives, and that Python computes', () => {
  assert.is(dashed(namedUuid(DNS, 'python.org')), '886313e1-3b8a-5372-9b90-0c9aee199e5d')
  assert.is(dashed(namedUuid(DNS, 'www.example.com')), '2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

test('a fresh UUID is one of version 4, made of the digits that it is given', () => {
  const uuid = freshUuid({ hex: bytes => 'ff'.repeat(bytes) })
  assert.is(dashed(uuid), 'ffffffff-ffff-4fff-bfff-ffffffffffff')
  assert.ok(isUuid(uuid) && isUuid(dashed(uuid)))
})

test('names are no UUIDs, and spans of one trace differ', () => {
  for (const name of ['calc', 'calc-3f', '123', '']) assert.not.ok(isUuid(name), name)
  assert.match(spanId(DNS, 1), /^[0-9a-f]{16}$/)
  assert.is(spanId(DNS, 1), spanId(DNS, 1))
  assert.is.not(spanId(DNS, 1), spanId(DNS, 2))
})

test.run()

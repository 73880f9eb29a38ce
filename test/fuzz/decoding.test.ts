import * as fc from 'fast-check'
import { Packr } from 'msgpackr'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { Codec } from '../../src/kernel/codec.ts'
import { decodeBatch, encodeBatch } from '../../src/kernel/envelope.ts'
import { packTrajectory, unpackTrajectory } from '../../src/rollout/pack.ts'
import { makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { assertData } from './assert-data.ts'
import { deadlineOf, fuzz, prototypeKeys, report } from './executions.ts'
import { mutated } from './mutate.ts'

const test = suite('fuzz: decoding')
const before = prototypeKeys()
test.after(report)

const codec = new Codec(address => {
  throw new TroupeError({ tag: 'no-refs', message: `no refs here: ${address}` })
})
const plain = new Packr({ useRecords: false, variableMapSize: true })

/** Either data or an error with a tag, and nothing done to what everybody shares. */
function decode(read: () => unknown, tags: readonly string[]): void {
  let value: unknown
  try {
    value = read()
  } catch (error) {
    assert.ok(
      error instanceof TroupeError && tags.includes(error.tag),
      error instanceof Error ? error.stack : String(error),
    )
    assert.is(prototypeKeys(), before)
    return
  }
  assertData(value)
  assert.is(prototypeKeys(), before)
}

const message = fc.oneof(
  fc.jsonValue(),
  fc.record({
    type: fc.string(),
    ids: fc.uint32Array(),
    logprobs: fc.float32Array(),
    big: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    when: fc.date({ noInvalidDate: true }),
  }),
  fc.array(fc.record({ a: fc.nat(), b: fc.string() }), { maxLength: 6 }),
)
const packedMessage = message.map(value => Buffer.from(codec.pack(value)))
/** Every kind of token that msgpack has, with lengths that promise more than there is. */
const tokens = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0x80, max: 0xff }).map(byte => [byte]),
      fc
        .tuple(
          fc.constantFrom(0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf),
          fc.uint8Array({ minLength: 4, maxLength: 5 }),
        )
        .map(([token, rest]) => [token, ...rest]),
      fc
        .tuple(
          fc.constantFrom(0xd4, 0xd5, 0xd6, 0xd7, 0xd8),
          fc.constantFrom(0x00, 0x42, 0x4d, 0x52, 0x62, 0x65, 0x69, 0x70, 0x72, 0x73, 0x74, 0x78, 0xff),
          fc.uint8Array({ maxLength: 6 }),
        )
        .map(([token, type, rest]) => [token, type, ...rest]),
      fc
        .constantFrom('__proto__', 'constructor', 'prototype', 'toString')
        .map(text => [0xa0 + text.length, ...Buffer.from(text)]),
      fc.uint8Array({ maxLength: 4 }).map(bytes => [...bytes]),
    ),
    { maxLength: 14 },
  )
  .map(parts => Buffer.from(parts.flat()))
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 80 }).map(each => Buffer.from(each)),
  tokens,
  mutated(packedMessage),
)

test(
  'whatever bytes a link brings are data or a malformed batch',
  () =>
    fuzz('message codec', 6_000, [bytes], each => decode(() => codec.unpack(each, []), ['malformed-batch', 'no-refs'])),
  deadlineOf(6_000),
)

const batch = fc
  .tuple(fc.array(message, { maxLength: 4 }), fc.array(fc.integer(), { maxLength: 8 }))
  .map(([messages, ids]) => {
    const columns = Int32Array.from(messages, (_, index) => ids[index] ?? 0)
    return Buffer.from(encodeBatch(messages.length, columns, columns, codec.pack(messages)))
  })

test(
  'a batch is as long as it says, or malformed',
  () =>
    fuzz('thread batch', 4_000, [fc.oneof(bytes, mutated(batch))], each =>
      decode(() => {
        const { count, columns, payload } = decodeBatch(each)
        assert.is(columns.length, 1 + 2 * count)
        return codec.unpack(payload, [])
      }, ['malformed-batch', 'no-refs']),
    ),
  deadlineOf(4_000),
)

const trajectory = fc
  .tuple(fc.nat(3), fc.nat(6), fc.nat(4))
  .map(([turns, prompt, output]) => Buffer.from(packTrajectory(makeTrajectory(turns, prompt, output))))
/** The right frame around any body. */
const framed = fc
  .tuple(
    fc.oneof(
      bytes,
      fc.jsonValue().map(turns => plain.pack({ turns })),
      fc.array(fc.jsonValue()).map(counts => plain.pack({ turns: [{ tokens: counts }] })),
    ),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([body, rest]) => {
    const head = Buffer.alloc(8)
    head.set(packTrajectory(makeTrajectory(0)).subarray(0, 4))
    head.writeUInt32LE(body.length, 4)
    return Buffer.concat([head, body, Buffer.alloc((4 - (body.length % 4)) % 4), rest])
  })

test(
  'bytes of a trajectory are one, or unreadable',
  () =>
    fuzz('packed trajectory', 6_000, [fc.oneof(bytes, mutated(trajectory), framed)], each =>
      decode(() => unpackTrajectory(each), ['unreadable-trajectory']),
    ),
  deadlineOf(6_000),
)

test('a length that promises 4 GiB takes no memory', () => {
  const huge = [
    ...[0xc6, 0xc9, 0xdb, 0xdd, 0xdf].map(token => Buffer.from([token, 0xff, 0xff, 0xff, 0xff, 0x74, 1, 2])),
    // Arrays in arrays, each of them as long as what is left.
    Buffer.concat([...Array.from({ length: 200 }, () => Buffer.from([0xdc, 0x0f, 0xff])), Buffer.alloc(0x1000)]),
    Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0x7f]), Buffer.alloc(64)]),
  ]
  const atStart = process.memoryUsage()
  for (const each of huge) {
    decode(() => codec.unpack(each, []), ['malformed-batch'])
    decode(() => decodeBatch(each), ['malformed-batch'])
    decode(() => unpackTrajectory(each), ['unreadable-trajectory'])
  }
  const counts = plain.pack({ turns: [{ tokens: [2 ** 31, 2 ** 40, 2 ** 53 - 1] }] })
  const head = Buffer.from(packTrajectory(makeTrajectory(0)).slice(0, 8))
  head.writeUInt32LE(counts.length, 4)
  decode(() => unpackTrajectory(Buffer.concat([head, counts, Buffer.alloc(8)])), ['unreadable-trajectory'])
  const atEnd = process.memoryUsage()
  const grown = atEnd.heapUsed + atEnd.arrayBuffers - atStart.heapUsed - atStart.arrayBuffers
  assert.ok(grown < 64 * 2 ** 20, `${grown} bytes`)
})

test('nested a million deep is an error, not the end of the process', () => {
  for (const token of [0x91, 0x81]) {
    const deep = Buffer.alloc(1_000_000, token)
    decode(() => codec.unpack(deep, []), ['malformed-batch'])
    const head = Buffer.from(packTrajectory(makeTrajectory(0)).slice(0, 8))
    head.writeUInt32LE(deep.length, 4)
    decode(() => unpackTrajectory(Buffer.concat([head, deep])), ['unreadable-trajectory'])
  }
})

test('records whose field names are code stay names, however often they are read', () => {
  const names = [
    '__proto__',
    'constructor',
    'a:globalThis.pwned=1,b',
    ']:(globalThis.pwned=1),["c',
    "'+(globalThis.pwned=1)+'",
    '\u2028',
  ]
  const values = Array.from({ length: 50 }, () => Object.fromEntries(names.map((name, index) => [name, index])))
  for (let round = 0; round < 5; round += 1) {
    const read = codec.copy(values)
    assertData(read)
    assert.ok(Array.isArray(read) && read.length === 50)
  }
  assert.not.ok('pwned' in globalThis)
  assert.is(prototypeKeys(), before)
  const first = codec.copy(JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'))
  assert.is(Object.getPrototypeOf(first), Object.prototype)
  assert.not.ok('admin' in Object(first))
})

test.run()

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { Codec } from '../../src/kernel/codec.ts'
import { decodeBatch, encodeBatch } from '../../src/kernel/envelope.ts'
import { moveBinaries } from '../../src/kernel/moved.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { suite } from '../support/suite.ts'
import { counter } from './actors.ts'

const test = suite('codec')

function makeCodec(): Codec {
  return new Codec(() => {
    throw new Error('no refs here')
  })
}

const key = fc.string({ minLength: 1, maxLength: 8 }).filter(text => text !== '__proto__')
const { message } = fc.letrec(tie => ({
  leaf: fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string({ unit: 'grapheme' }),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.uint8Array(),
    fc.uint32Array(),
    fc.float32Array(),
  ),
  message: fc.oneof(
    { maxDepth: 4 },
    tie('leaf'),
    fc.array(tie('message'), { maxLength: 6 }),
    fc.dictionary(key, tie('message'), { maxKeys: 6, noNullPrototype: true }),
  ),
}))

test('any data survives the trip, with typed arrays and undefined as they were', () => {
  const codec = makeCodec()
  fc.assert(fc.property(message, value => assert.equal(normal(codec.copy(value)), normal(value))))
})

test('a message that cannot be packed leaves the next as it is', () => {
  const codec = makeCodec()
  for (const bad of [
    { first: { a: 1 }, second: () => 0 },
    { first: { b: 1 }, second: Symbol('no') },
  ]) {
    assert.throws(() => codec.pack([{ a: 1, b: 2 }, bad]))
    assert.equal(codec.copy([{ a: 1, b: 2 }, { first: { a: 1 } }]), [{ a: 1, b: 2 }, { first: { a: 1 } }])
  }
})

test('reading makes no prototype and no instance', () => {
  const codec = makeCodec()
  class Account {
    readonly balance = 3
    withdraw(): void {}
  }
  const copy = codec.copy({ account: new Account() }) as { account: object }
  assert.is(Object.getPrototypeOf(copy.account), Object.prototype)
  const hostile = codec.copy(JSON.parse('{"__proto__":{"admin":true}}')) as { admin?: boolean }
  assert.is(hostile.admin, undefined)
  assert.is(({} as { admin?: boolean }).admin, undefined)
})

test('a ref travels as its address and arrives as the ref of the reading system', async () => {
  const system = makeSystem({ node: 'here' })
  const ref = system.spawn(counter())
  const codec = new Codec(address => system.ref(address) as never)
  const copy = codec.copy({ ref }) as { ref: unknown }
  assert.is(copy.ref, ref)
  await system.stop()
})

test('only a large binary that owns its buffer moves; the message it was in is not changed', () => {
  const whole = new Float32Array(1_024)
  const part = new Uint8Array(16_384).subarray(1)
  const small = new Uint8Array(4_095)
  const value = { steps: [{ whole, again: whole }], part, small }
  const attachments: ArrayBuffer[] = []
  const moved = moveBinaries(value, attachments) as typeof value
  assert.equal(attachments.length, 1)
  assert.is(attachments[0], whole.buffer)
  assert.is(value.steps[0]?.whole, whole)
  assert.is(moved.part, part)
  assert.is(moved.small, small)
  const codec = makeCodec()
  const arrived = codec.unpack(codec.pack(moved), attachments) as typeof value
  assert.is(arrived.steps[0]?.whole.buffer, whole.buffer)
  assert.instance(arrived.steps[0]?.again, Float32Array)
  assert.is(moveBinaries(arrived.small, []), arrived.small)
  assert.throws(
    () => codec.unpack(codec.pack(moved), []),
    (error: unknown) => hasTag(error, 'malformed-batch'),
  )
})

test('a batch keeps its columns, and one that lies about its length is refused', () => {
  const bytes = encodeBatch(2, Int32Array.of(7, -9, 99), Int32Array.of(0, -1), Uint8Array.of(1, 2, 3))
  const shifted = Buffer.concat([Buffer.of(0), bytes]).subarray(1)
  for (const { count, columns, payload } of [decodeBatch(bytes), decodeBatch(shifted)])
    assert.equal([count, [...columns], [...payload]], [2, [2, 7, -9, 0, -1], [1, 2, 3]])
  for (const broken of [bytes.subarray(0, 3), bytes.subarray(0, 12)])
    assert.throws(
      () => decodeBatch(broken),
      (error: unknown) => hasTag(error, 'malformed-batch'),
    )
})

/** With typed arrays tagged by their class, and bigints that fit a number as msgpack reads them. */
function normal(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
  if (ArrayBuffer.isView(value))
    return { class: value.constructor.name, items: [...(value as unknown as Iterable<number>)] }
  if (Array.isArray(value)) return value.map(normal)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, normal(field)]))
}

test.run()

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { checkFrameSize, FrameReader, type ReadFrame } from '../../src/wire/frame.ts'
import { suite } from '../support/suite.ts'

const test = suite('frames')

function readAll(chunks: readonly Buffer[], maxBytes: number): ReadFrame[] {
  const reader = new FrameReader(maxBytes)
  const frames: ReadFrame[] = []
  for (const chunk of chunks) {
    reader.push(chunk)
    for (let read = reader.next(); read !== undefined; read = reader.next()) frames.push(read)
  }
  return frames
}

function chop(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
}

test('any chunking of a stream gives the same frames', () => {
  const frame = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue(), { maxKeys: 3 })
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 12 }), (messages, cuts) => {
      const texts = messages.map(message => JSON.stringify(message))
      const bytes = Buffer.from(texts.map(text => `${text}\n`).join(''))
      const frames = readAll(chop(bytes, cuts), 1 << 20)
      assert.equal(
        frames,
        texts.map(text => ({ kind: 'frame', message: JSON.parse(text) })),
      )
    }),
    { numRuns: 200 },
  )
})

test('any chunking of garbage gives the same frames up to the same problem', () => {
  const line = fc.oneof(fc.constant('{"a":1}'), fc.constant('{"é":"ü"}'), fc.constant('{"b":'), fc.string())
  fc.assert(
    fc.property(fc.array(line), fc.uint8Array({ maxLength: 20 }), fc.array(fc.nat()), (lines, tail, cuts) => {
      const bytes = Buffer.concat([Buffer.from(lines.map(text => `${text}\n`).join('')), tail])
      assert.equal(
        readAll(chop(bytes, cuts), 30),
        readAll(
          [...bytes].map(byte => Buffer.of(byte)),
          30,
        ),
      )
    }),
    { numRuns: 200 },
  )
})

test('the limit is of the line without its newline, and is noticed before the line ends', () => {
  const exact = Buffer.from(`{"a":"${'x'.repeat(92)}"}\n`)
  assert.is(exact.length, 101)
  assert.is(readAll([exact], 100)[0]?.kind, 'frame')
  assert.equal(readAll([exact], 99), [{ kind: 'problem', problem: { kind: 'too-large', limitBytes: 99 } }])
  assert.is(readAll([exact.subarray(0, 60), exact.subarray(60, 100)], 99)[0]?.kind, 'problem')
})

test('a large line in single bytes takes no longer than its size asks for', () => {
  const text = `{"a":"${'x'.repeat(300_000)}"}\n`
  const frames = readAll(
    [...Buffer.from(text)].map(byte => Buffer.of(byte)),
    1 << 20,
  )
  assert.is(frames.length, 1)
})

test('bytes past the last frame taken are given back', () => {
  const reader = new FrameReader(100)
  reader.push(Buffer.from('{"a":1}\n{"b'))
  assert.is(reader.next()?.kind, 'frame')
  assert.is(reader.next(), undefined)
  reader.push(Buffer.from('":2}\n\0\xff', 'latin1'))
  assert.is(reader.next()?.kind, 'frame')
  assert.equal(reader.rest(), Buffer.from([0, 0xff]))
  assert.is(reader.rest().length, 0)
})

test('a frame over the peer’s limit is refused by name and size', () => {
  const text = `${'é'.repeat(50)}\n`
  checkFrameSize(text, 100, 'the request tasks.start')
  try {
    checkFrameSize(text, 99, 'the request tasks.start')
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'frame-too-large'))
    assert.equal(error.data.details, { what: 'the request tasks.start', bytes: 100, limitBytes: 99 })
    assert.match(error.message, 'tasks.start is a frame of 100 bytes')
  }
})

test.run()

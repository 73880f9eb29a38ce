import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { JsonWriter } from '../../../src/training/body/json-writer.ts'
import { suite } from '../../support/suite.ts'

const test = suite('json writer')
const writer = new JsonWriter()
const decoder = new TextDecoder()

function textOf(values: Uint32Array | Float32Array): string {
  if (values instanceof Uint32Array) writer.ids(values)
  else writer.floats(values)
  return decoder.decode(writer.take())
}

/** Logprobs as they are: most near 0, some far from it. */
const logprob = fc.double({ min: -17, max: 3.5, noNaN: true }).map(power => -Math.exp(power))

test('ids are the text that JSON.stringify makes of them', () => {
  fc.assert(
    fc.property(fc.uint32Array({ maxLength: 40 }), ids => {
      assert.is(textOf(ids), JSON.stringify([...ids]))
    }),
    { numRuns: 300 },
  )
  const edges = Uint32Array.of(0, 9, 10, 999, 1_000, 9_999, 10_000, 99_999, 999_999, 9_999_999, 10_000_000, 2 ** 32 - 1)
  assert.is(textOf(edges), JSON.stringify([...edges]))
})

test('a float comes back as the same float of 32 bits, in no more digits than 9', () => {
  fc.assert(
    fc.property(fc.oneof(fc.float32Array({ noNaN: true }), fc.array(logprob)), values => {
      const floats = Float32Array.from(values)
      const text = textOf(floats)
      const back: (number | null)[] = JSON.parse(text)
      assert.is(back.length, floats.length)
      for (const [place, value] of floats.entries())
        if (Number.isFinite(value)) assert.is(Math.fround(back[place] ?? Number.NaN), value === 0 ? 0 : value)
        else assert.is(back[place], null)
      for (const number of text.match(/[\d.]+(?=e|,|\])/g) ?? [])
        assert.ok(number.replace('.', '').replace(/^0+|0+$/g, '').length <= 9, number)
    }),
    { numRuns: 500 },
  )
})

test('a short decimal stays short', () => {
  const values = Float32Array.of(0, -0, -0.1, 1, -2.5, 1e-6, -20, 123.456, 9.9999999, 0.00012345)
  assert.is(textOf(values), '[0,0,-0.1,1,-2.5,1e-6,-20,123.456,10,0.00012345]')
})

test('arrays longer than what is written at once, empty ones and text stand side by side', () => {
  const ids = Uint32Array.from({ length: 10_000 }, (_, place) => place * 37)
  writer.text('{"naïve":')
  writer.ids(ids)
  writer.text(',"none":')
  writer.floats(new Float32Array(0))
  writer.text('}')
  assert.equal(JSON.parse(decoder.decode(writer.take())), { naïve: [...ids], none: [] })
  assert.is(writer.take().length, 0)
})

test('what was taken owns its buffer and is not written into again', () => {
  const ids = Uint32Array.of(1, 2, 3)
  writer.ids(ids)
  const taken = writer.take()
  writer.ids(Uint32Array.of(4, 5, 6))
  assert.is(decoder.decode(taken), '[1,2,3]')
  assert.is(taken.byteLength, taken.buffer.byteLength)
  writer.take()
})

test.run()

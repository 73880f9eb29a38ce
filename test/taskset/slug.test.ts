import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { defaultSlug } from '../../src/taskset/slug.ts'
import { suite } from '../support/suite.ts'

const test = suite('default slugs')

/** Each pair was computed by HUD's own `Task` in Python, from the JSON text on the left. */
const PYTHON: readonly (readonly [json: string, slug: string])[] = [
  ['{"variant": 0}', 't-1f1d3477'],
  ['{"b": 1, "a": [1, 2.5, "x"], "c": {"z": null, "y": true}}', 't-3c7cc047'],
  ['{"text": "Gr\u00fc\u00dfe, \u4f60\u597d \\ud83d\\ude00 \\u007f \\" \\\\ / \\n\\t\\u0001"}', 't-50a3d668'],
  [
    '{"x": 1e-5, "y": 1e-7, "z": 0.0001, "w": 0.00012345, "v": 1e21, "u": 1.5e300, "t": -2.5e-9, "s": 123456789.25}',
    't-6cc270f6',
  ],
  ['{"\\uff5e": 1, "\\ud83d\\ude00": 2, "a": 3, "": 4}', 't-5d97794a'],
  ['{"n": {"m": {"list": [[], {}, [{"k": "v"}]]}}}', 't-848617a1'],
  ['{"big": 9007199254740991, "neg": -0.5, "zero": 0}', 't-997497f4'],
  ['{"x": 1.7976931348623157e308, "y": 5e-324, "z": 1e-10}', 't-bbcf78e7'],
]

test('a task without arguments is named after its template', () => {
  assert.is(defaultSlug('fix_calc', {}), 'fix_calc')
  assert.is(defaultSlug('fix_calc', { variant: undefined }), 'fix_calc')
})

test('slugs are those that Python computes from the same row', () => {
  for (const [json, slug] of PYTHON) assert.is(defaultSlug('t', JSON.parse(json)), slug, json)
})

test('the order of keys does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), args => {
      const reversed = Object.fromEntries(Object.entries(args).reverse())
      assert.is(defaultSlug('t', reversed), defaultSlug('t', args))
    }),
  )
})

test('a number reads the same with and without a fraction of zero', () => {
  assert.is(defaultSlug('t', JSON.parse('{"a": 1.0}')), defaultSlug('t', { a: 1 }))
})

test('arguments that are not JSON are refused', () => {
  assert.throws(() => defaultSlug('t', { a: 1n }), /BigInt/)
})

test.run()

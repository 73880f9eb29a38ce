import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { learnTokenizer, makeTokenizer, SPECIAL_TOKENS } from '../../src/policy/tokenizer.ts'
import { suite } from '../support/suite.ts'

const test = suite('tokenizer')

const TEXTS = [
  'def mean(xs):\n    return sum(xs) / len(xs)\n',
  'def spread(xs):\n    return max(xs) - min(xs)\n',
  'assert mean([1, 2]) == 1.5\n',
]
const LEARNED = [...TEXTS, ...TEXTS]
const tokenizer = makeTokenizer(learnTokenizer(LEARNED, 40))

test('any text is put into tokens and back', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...TEXTS, '\n', '    ', 'é', '𝄞', '\uFEFF', '<eot>', '\r\n')).map(parts => parts.join('')),
  )
  fc.assert(
    fc.property(text, value => {
      const ids = tokenizer.encode(value)
      assert.is(tokenizer.decode(ids), value)
      assert.ok(ids.every(id => id < tokenizer.vocabulary && !tokenizer.isSpecial(id)))
    }),
  )
})

test('what the texts have often takes few tokens, and no token crosses the end of a line', () => {
  const learned = TEXTS.flatMap(text => tokenizer.encode(text)).length
  assert.ok(learned < 0.5 * TEXTS.join('').length, `${learned} tokens`)
  for (let id = 0; id < tokenizer.vocabulary; id += 1) assert.match(tokenizer.decode([id]), /^\n? *$|^[^\n]*$/)
})

test('bytes that are no UTF-8 decode to the replacement character', () => {
  const [first] = tokenizer.encode('é')
  assert.is(tokenizer.decode([first ?? 0, ...tokenizer.encode('a')]), '\uFFFDa')
})

test('special tokens have names that no text is encoded to', () => {
  for (const name of SPECIAL_TOKENS) {
    assert.is(tokenizer.decode([tokenizer.special(name)]), name)
    assert.ok(!tokenizer.encode(name).includes(tokenizer.special(name)))
  }
})

test('the same texts give the same tokenizer, and its data give it back', () => {
  const again = makeTokenizer(learnTokenizer(LEARNED, 40))
  assert.is(again.fingerprint, tokenizer.fingerprint)
  const stored: unknown = JSON.parse(JSON.stringify(tokenizer.data))
  assert.equal(stored, again.data)
  assert.not.equal(makeTokenizer(learnTokenizer(LEARNED, 39)).fingerprint, tokenizer.fingerprint)
})

test('merges stop where nothing is seen twice', () => {
  assert.is(makeTokenizer(learnTokenizer(['abcd'], 10)).vocabulary, SPECIAL_TOKENS.length + 256)
})

test('a long line is encoded in time', () => {
  const line = TEXTS.join(' ').replaceAll('\n', ' ').repeat(2000)
  const start = performance.now()
  assert.is(tokenizer.decode(tokenizer.encode(line)), line)
  assert.ok(performance.now() - start < 5000)
})

test.run()

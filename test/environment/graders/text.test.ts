import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { contains, containsAll, containsAny } from '../../../src/environment/graders/contains.ts'
import { exactMatch } from '../../../src/environment/graders/exact-match.ts'
import { f1Score } from '../../../src/environment/graders/f1.ts'
import { normalize } from '../../../src/environment/graders/normalize.ts'
import { numericMatch } from '../../../src/environment/graders/numeric.ts'
import { suite } from '../../support/suite.ts'

const test = suite('graders of text')

test('normalising drops case, punctuation, articles and spacing', () => {
  assert.is(normalize('  The Answer is: 42! '), 'answer is 42')
  assert.is(normalize('An Ärger, a theme'), 'ärger theme')
})

test('an exact match normalises unless told otherwise', () => {
  assert.is(exactMatch('The Paris.', 'paris'), 1)
  assert.is(exactMatch('The Paris.', 'paris', { normalize: false }), 0)
  assert.is(exactMatch(' Paris ', 'paris', { normalize: false }), 1)
  assert.is(exactMatch(42, '42'), 1)
})

test('contains ignores case by default', () => {
  assert.is(contains('It is PARIS', 'paris'), 1)
  assert.is(contains('It is PARIS', 'paris', { caseSensitive: true }), 0)
  assert.is(containsAny('red', ['blue', 'red']), 1)
  assert.is(containsAll('red', ['blue', 'red']), 0)
})

test('a number is found in words and compared within the tolerance', () => {
  assert.is(numericMatch('about -3.5e1 degrees', -35), 1)
  assert.is(numericMatch('3.14', Math.PI), 0)
  assert.is(numericMatch('3.14', Math.PI, { tolerance: 0.01 }), 1)
  assert.is(numericMatch('none', 0), 0)
  assert.is(numericMatch(7, 7), 1)
})

test('F1 counts each word as often as both have it', () => {
  assert.is(f1Score('The capital is Paris, France', 'Paris'), 0.4)
  assert.is(f1Score('', 'Paris'), 0)
  assert.is(f1Score('x x', 'x'), 2 / 3)
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const score = f1Score(a, b)
      return score >= 0 && score <= 1 && score === f1Score(b, a)
    }),
  )
})

test.run()

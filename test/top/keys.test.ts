import * as assert from 'uvu/assert'
import { fit, pad, sparkline, toPlain } from '../../src/top/text.ts'
import { FIRST_VIEW, LISTS, type ListName, pressKey, type TopView } from '../../src/top/view.ts'
import { suite } from '../support/suite.ts'

const test = suite('keys and texts of troupe top')

const ALONE = LISTS.filter(name => name !== 'workers')

function press(...keys: string[]): TopView {
  return pressOf(ALONE, ...keys)
}

function pressOf(lists: readonly ListName[], ...keys: string[]): TopView {
  let view = FIRST_VIEW
  for (const key of keys) {
    const pressed = pressKey(view, key, lists)
    if (pressed?.type === 'view') view = pressed.view
  }
  return view
}

test('keys choose lists and how rollouts are sorted; q and Ctrl-C quit, and others mean nothing', () => {
  assert.equal(press('\t').list, 'rollouts')
  assert.equal(press('\t', '\t', '\t', '\t', '\t').list, 'all')
  assert.equal(press('3').list, 'failures')
  assert.equal(press('3', '0').list, 'all')
  assert.equal(press('s').sort, 'phase')
  assert.equal(press('s', 's', 's').sort, 'longest')
  for (const key of ['q', 'Q', '\u0003']) assert.equal(pressKey(FIRST_VIEW, key, LISTS), { type: 'quit' })
  for (const key of ['x', '9', '\u001b[A', '\u001b']) assert.is(pressKey(FIRST_VIEW, key, LISTS), undefined)
})

test('workers have a key where there are any', () => {
  assert.equal(press('5').list, 'all')
  assert.equal(pressOf(LISTS, '5').list, 'workers')
  assert.equal(pressOf(LISTS, ...'\t'.repeat(5)).list, 'workers')
})

test('a text from elsewhere commands no terminal', () => {
  assert.is(toPlain('\u001b]0;title\u0007 a\n\tb\u0000\u009b2J\u202e'), 'a b')
})

test('texts are cut and filled by the columns that they take', () => {
  assert.is(fit('abcdef', 4), 'abc…')
  assert.is(fit('名前名前', 5), '名前…')
  assert.is(fit('名前名前', 4), '名…')
  assert.is(fit('👩‍👩‍👧x', 3), '👩‍👩‍👧x')
  assert.is(fit('abc', 0), '')
  assert.is(pad('ab', 4), 'ab  ')
  assert.is(pad('ab', 4, 'right'), '  ab')
  assert.is(pad('名前', 3), '名…')
})

test('a curve is of the newest steps', () => {
  assert.is(sparkline([0, 0.5, 1], 10), '▁▅█')
  assert.is(sparkline([0, 0, 0, 0.25, 0.99, 2, -1], 4), '▃██▁')
})

test.run()

import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { isShown, toCommands } from './console.ts'

const test = suite('docs: consoles')
const EXACT = { line: 1, numbersVary: false, orderVaries: false }
const shows = (text: string, printed: string, how = {}) =>
  isShown({ ...EXACT, ...how, text }, { both: printed, stdout: '' })

test('commands and what they printed are told apart', () => {
  assert.equal(toCommands('$ ls a \\\n  b\none\ntwo\n\n$ cat <<E\n> x\n> E\n$ pwd\n'), [
    { command: 'ls a \\\n  b', printed: 'one\ntwo' },
    { command: 'cat <<E\nx\nE', printed: '' },
    { command: 'pwd', printed: '' },
  ])
})

test('what was printed must be what is shown, on the terminal or on stdout alone', () => {
  assert.ok(shows('one\ntwo', 'one  \ntwo\n'))
  assert.not(shows('one\ntwo', 'one\nthree'))
  assert.not(shows('one', 'one\ntwo'))
  assert.not(shows('one\ntwo', 'one'))
  assert.ok(isShown({ ...EXACT, text: 'result' }, { both: 'talk\nresult', stdout: 'result' }))
})

test('an ellipsis stands for any lines, or for any text of a line, and for nothing else', () => {
  assert.ok(shows('one\n…\nfour', 'one\ntwo\nthree\nfour'))
  assert.ok(shows('one\n…', 'one'))
  assert.ok(shows('…', ''))
  assert.not(shows('one\n…\nfour', 'one\ntwo\nthree'))
  assert.ok(shows('job-… of …: done', 'job-01 of calc: done'))
  assert.not(shows('job-… of …: done', 'job-01 of calc: undone'))
})

test('numbers, times, ids and the widths of tables may vary only where the page says so', () => {
  const shown = 'job-4b6a4ddd took 19.86 s\n│ a │ 1 min 03 s │\n└───┴────┘'
  const printed = 'job-0011aabb took 657 ms\n│ a │      2.00 s │\n└───┴─────────────┘'
  assert.not(shows(shown, printed))
  assert.ok(shows(shown, printed, { numbersVary: true }))
  assert.not(shows(shown, printed.replace('took', 'lost'), { numbersVary: true }))
})

test('the order of lines may vary only where the page says so', () => {
  assert.not(shows('one\ntwo', 'two\none'))
  assert.ok(shows('one\ntwo', 'two\none', { orderVaries: true }))
  assert.not(shows('one\ntwo', 'two\ntwo', { orderVaries: true }))
})

test.run()

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { findInexactNumber } from '../../src/taskset/exact-numbers.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { failure } from '../wire/support/failure.ts'

const test = suite('task rows in files')

const taskset = new Taskset('two', [
  { env: 'e', id: 't', args: { text: 'ä\n', deep: [{ n: 1e21 }] } },
  { env: 'e', id: 't', slug: 'named', columns: { level: 3 } },
])

test('what is saved is loaded as it was, a row a line or in a list', () =>
  withFiles({}, async directory => {
    for (const [name, lines] of [
      ['two.jsonl', 2],
      ['two.json', undefined],
    ] as const) {
      const path = join(directory, name)
      await taskset.save(path)
      assert.equal((await Taskset.load(path)).tasks, taskset.tasks)
      if (lines !== undefined) assert.is(readFileSync(path, 'utf8').split('\n').length, lines + 1)
    }
  }))

test('another ending is refused, and so is a place that cannot be written', () =>
  withFiles({}, async directory => {
    const other = await failure(taskset.save(join(directory, 'two.csv')))
    assert.is(other.tag, 'unsupported-tasks')
    assert.match(other.message, 'written to .json or .jsonl')
    const nowhere = await failure(taskset.save(join(directory, 'none', 'two.json')))
    assert.is(nowhere.tag, 'tasks-not-written')
  }))

test('a whole number that would be rounded is refused with its line', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'tasks.json')
    writeFileSync(path, '[\n  {"env": "e", "id": "t",\n   "args": {"n": 9007199254740993}}\n]\n')
    const error = await failure(Taskset.load(path))
    assert.is(error.tag, 'inexact-number')
    assert.match(error.message, 'tasks.json:3: the whole number 9007199254740993 would be rounded to 9007199254740992')
  }))

test('digits in texts, fractions and numbers that a double holds are no matter', () => {
  for (const json of [
    '"9007199254740993"',
    '{"a\\"9007199254740993": "\\\\", "b": 1}',
    '[9007199254740991, -9007199254740992, 0.12345678901234567890, 12345678901234567890e3]',
    `"${'x'.repeat(2_000_000)}"`,
  ])
    assert.is(findInexactNumber(json), undefined)
  assert.equal(findInexactNumber('{"a": "\\\\", "b": [12345678901234567]}'), {
    digits: '12345678901234567',
    offset: 18,
  })
})

test.run()

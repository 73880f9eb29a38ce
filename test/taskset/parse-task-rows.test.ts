import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { parseTaskRows } from '../../src/taskset/parse-task-rows.ts'
import { suite } from '../support/suite.ts'

const test = suite('parse-task-rows')

function problemsOf(...values: unknown[]): string[] {
  try {
    parseTaskRows(values.map((value, index) => ({ value, place: `t.json[${index}]` })))
  } catch (error) {
    if (hasTag(error, 'bad-task-rows')) return error.message.split('\n').slice(1, -1)
    throw error
  }
  return []
}

test('a row gets its defaults, and null is a field that is not set', () => {
  const rows = [
    { env: 'calc', id: 'fix', args: { variant: 0 }, columns: { bugs: 4 } },
    { env: 'calc', id: 'fix', slug: null, args: null, verifier: { env: 'calc', id: 'check' } },
  ]
  assert.equal(parseTaskRows(rows.map((value, index) => ({ value, place: String(index) }))), [
    { env: 'calc', id: 'fix', args: { variant: 0 }, slug: 'fix-1f1d3477', columns: { bugs: 4 } },
    { env: 'calc', id: 'fix', args: {}, slug: 'fix', verifier: { env: 'calc', id: 'check', args: {}, slug: 'check' } },
  ])
})

test('everything that is wrong is told at once, each with its place', () => {
  assert.equal(
    problemsOf({ env: 'calc', args: [] }, { env: '', id: 'a', arg: {} }, 7, { env: 'calc', id: 'ok' }, null),
    [
      '  t.json[0]: "id" must be a string',
      '  t.json[0]: "args" must be an object',
      '  t.json[1]: "env" is empty',
      '  t.json[1]: "arg" is no field of a task (env, id, args, slug, validation, agent_config, columns, runtime_config, verifier); facets go under columns',
      '  t.json[2]: a task is an object with "env" and "id", and this is a number',
      '  t.json[4]: a task is an object with "env" and "id", and this is null',
    ],
  )
})

test('two rows of one slug are named with both places', () => {
  const row = { env: 'calc', id: 'fix', args: { variant: 1 } }
  assert.equal(problemsOf(row, { env: 'other', id: 'x' }, row), [
    `  t.json[2]: the slug "fix-dde1b5b5" is already taken by t.json[0]: give each row its own slug`,
  ])
})

test('a verifier has no verifier of its own', () => {
  const check = { env: 'calc', id: 'check' }
  assert.equal(problemsOf({ env: 'calc', id: 'fix', verifier: { ...check, verifier: check } }), [
    '  t.json[0]: "verifier": a verifier has no verifier of its own',
  ])
})

test.run()

import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toLevelTasks } from '../../../src/ladder/client/engine-client.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { suite } from '../../support/suite.ts'

const test = suite('tasks of a level')

const tasksOf = (count: number) =>
  new Taskset(
    'some',
    Array.from({ length: count }, (_, at) => ({ env: 'arith', id: 'add', args: { a: at, b: 0 }, slug: `add-${at}` })),
  )

test('groups are of the size asked for where that makes up the level', () => {
  assert.is(toLevelTasks(tasksOf(32), 128, 8).tasks.length, 16)
  assert.is(toLevelTasks(tasksOf(32), 1, 8).tasks.length, 1)
})

test('whole groups make up exactly the level, whatever there is', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 32 }),
      (width, count, group) => {
        const { length } = toLevelTasks(tasksOf(count), width, group).tasks
        assert.is(width % length, 0)
        assert.ok(length >= 1 && length <= count)
        assert.ok(width / length >= Math.min(group, width))
      },
    ),
  )
})

test.run()

import * as assert from 'uvu/assert'
import { chooseSplits } from '../../src/cli/choose-splits.ts'
import { hasTag } from '../../src/errors.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli splits')

const row = (slug: string, split?: string) => ({
  env: 'e',
  id: 'fix',
  slug,
  ...(split === undefined ? {} : { columns: { split } }),
})
const split = new Taskset('s', [row('a', 'train'), row('b', 'held-out'), row('c', 'train'), row('d', 'unseen')])
const plain = new Taskset('p', [row('a'), row('b')])
const slugs = (taskset: Taskset | undefined) => taskset?.tasks.map(task => task.slug).join()

test('tasks say themselves what they are for', () => {
  const { train, heldOut, unseen } = chooseSplits(split, {})
  assert.equal([slugs(train), slugs(heldOut), slugs(unseen)], ['a,c', 'b', 'd'])
})

test('tasks that say nothing are all trained on, and nothing is held out', () => {
  const { train, heldOut, unseen } = chooseSplits(plain, {})
  assert.equal([slugs(train), heldOut, unseen], ['a,b', undefined, undefined])
})

test('a quick training measures unseen tasks only where they are named', () => {
  assert.is(chooseSplits(split, { quick: true }).unseen, undefined)
  assert.is(slugs(chooseSplits(split, { quick: true }).heldOut), 'b')
  assert.is(slugs(chooseSplits(split, { quick: true, unseen: ['d'] }).unseen), 'd')
})

test('a selector goes before what tasks say', () => {
  const { train, heldOut } = chooseSplits(split, { taskIds: ['0'], heldOut: ['c'] })
  assert.equal([slugs(train), slugs(heldOut)], ['a', 'c'])
})

test('what is trained on is not measured as held out, and splits without a train are refused', () => {
  const refuse = (tag: string, taskset: Taskset, selectors: Parameters<typeof chooseSplits>[1]) =>
    assert.throws(
      () => chooseSplits(taskset, selectors),
      (error: unknown) => hasTag(error, tag),
    )
  refuse('tasks-overlap', split, { taskIds: ['0-1'] })
  refuse('tasks-overlap', split, { unseen: ['a'] })
  refuse('nothing-to-train-on', new Taskset('n', [row('a', 'held-out')]), {})
})

test.run()

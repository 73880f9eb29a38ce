import * as assert from 'uvu/assert'
import { combine, combineAll, combineAny, weigh } from '../../../src/environment/graders/combine.ts'
import { hasTag } from '../../../src/errors.ts'
import { suite } from '../../support/suite.ts'

const test = suite('combined grades')

test('positive weights are shares, and penalties are taken off as they are', async () => {
  const { score, subscores } = await combine(weigh('a', 3, 1), weigh('b', 1, 0), weigh('slow', -0.25, 1))
  assert.is(score, 0.5)
  assert.equal(
    subscores?.map(({ weight }) => weight),
    [0.75, 0.25, -0.25],
  )
})

test('equal names get numbers that nobody has', async () => {
  const { subscores } = await combine(weigh('a', 1, 1), weigh('a-1', 1, 1), weigh('a', 1, 1))
  assert.equal(
    subscores?.map(({ name }) => name),
    ['a-2', 'a-1', 'a-3'],
  )
})

test("a part keeps another grader's reasons", async () => {
  const part = await weigh('tests', 1, Promise.resolve({ score: 1, info: { passed: ['x'] } }))
  assert.equal(part, { name: 'tests', value: 1, weight: 1, info: { passed: ['x'] } })
})

test('any is the best child, all the worst', async () => {
  const children = [await weigh('a', 1, 0.2), await weigh('b', 1, 0.9)]
  assert.is(combineAny('any', 1, children).value, 0.9)
  assert.is(combineAll('all', 1, children).value, 0.2)
})

test('what cannot be combined is an error of the author', async () => {
  const attempts = [() => combine(), () => combine(weigh('a', -1, 1)), () => weigh('a', 1, 2), () => weigh('a', NaN, 1)]
  for (const attempt of attempts) {
    const error = await attempt().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.ok(hasTag(error, 'bad-grade'))
  }
})

test.run()

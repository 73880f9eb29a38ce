import * as assert from 'uvu/assert'
import { openLate } from '../../src/cluster/open-late.ts'
import { suite } from '../support/suite.ts'

const test = suite('what is opened late')

test('all get one, opened with the first call', async () => {
  let times = 0
  const store = openLate(async () => {
    times += 1
    return { times }
  })
  assert.is(times, 0)
  const [one, other] = await Promise.all([store(), store()])
  assert.is(one, other)
  assert.is(await store(), one)
  assert.is(times, 1)
})

test('a failure is told to those that waited for it, and the next call tries again', async () => {
  const answers = [Promise.reject(new Error('timeout')), Promise.resolve('open')]
  const store = openLate(() => answers.shift() ?? Promise.reject(new Error('opened three times')))
  const both = await Promise.allSettled([store(), store()])
  assert.equal(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.is(await store(), 'open')
  assert.is(await store(), 'open')
})

test.run()

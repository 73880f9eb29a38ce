import * as assert from 'uvu/assert'
import { makeRecall } from '../../src/job/recall.ts'
import { makeHeader } from '../journal/fixtures.ts'
import { plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'

const test = suite('job: recall')

test('without a journal, groups that are run anew after a cancel begin with nothing', async () => {
  const [first] = plans(1, 2)
  if (first === undefined) throw new Error('one group was asked for')
  const { plan } = first
  const recall = makeRecall(undefined, false)
  for (const { runId } of plan.members) recall.remember(makeHeader({ runId }))
  assert.is((await recall.durableRuns(plan)).length, 2, 'while they run, what is over need not be run again')
  await recall.sortPlans([plan])
  assert.equal(await recall.durableRuns(plan), [])
})

test.run()

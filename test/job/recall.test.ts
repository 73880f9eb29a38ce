import * as assert from 'uvu/assert'
import { makeRecall } from '../../src/job/recall.ts'
import { openMemoryJournal } from '../../src/journal/memory-journal.ts'
import { packTrajectory, toRun } from '../../src/rollout/pack.ts'
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
  const { retold } = await recall.sortPlans([plan])
  assert.equal([await recall.durableRuns(plan), retold], [[], 2])
})

test('without a journal, nothing is remembered of a group that is over', async () => {
  const [first, second] = plans(2, 2)
  if (first === undefined || second === undefined) throw new Error('two groups were asked for')
  const recall = makeRecall(undefined, false)
  const headers = [first, second].flatMap(({ plan }) => plan.members.map(({ runId }) => makeHeader({ runId })))
  for (const header of headers) recall.remember(header)
  const { jobId, groupId, step, index, task } = first.plan
  const runs = headers.slice(0, 2).map(header => toRun(header, new Uint8Array()))
  recall.forget({ jobId, groupId, step, index, task, end: { type: 'complete' }, runs, bytes: 0 })
  assert.is((await recall.durableRuns(first.plan)).length, 0)
  assert.is((await recall.durableRuns(second.plan)).length, 2, 'the other one is not over')
})

test('in a journal, plans of which nothing is there cost no look through the whole ledger', async () => {
  const [first, second] = plans(2, 2)
  if (first === undefined || second === undefined) throw new Error('two groups were asked for')
  const journal = openMemoryJournal()
  let looks = 0
  const recall = makeRecall(
    {
      ...journal,
      groups: jobId => {
        looks += 1
        return journal.groups(jobId)
      },
    },
    false,
  )
  const [member] = first.plan.members
  if (member === undefined) throw new Error('two members were asked for')
  const trajectory = packTrajectory({ prompt: null, turns: [], answer: null, grade: null })
  await journal.putRun(makeHeader({ runId: member.runId, bytes: trajectory.byteLength }), trajectory)
  assert.equal([(await recall.sortPlans([first.plan, second.plan], false)).open[0]?.durable, looks], [[], 0])
  assert.equal([(await recall.sortPlans([second.plan], true)).retold, looks], [0, 0])
  const { ended, open, retold } = await recall.sortPlans([first.plan, second.plan], true)
  assert.equal([ended.length, open.map(({ durable }) => durable.length), retold, looks], [0, [1, 0], 1, 1])
})

test.run()

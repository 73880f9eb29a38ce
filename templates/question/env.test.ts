import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, playTask } from 'troupe/testing'
import makeAgent from './agent.ts'
import { countOf, env } from './env.ts'
import tasks from './tasks.ts'

for (const task of tasks) {
  test(`${task.slug} can be solved`, async () => {
    const run = await playTask(env, task, makeAgent({}))
    assert.equal(run.reward, 1, JSON.stringify(run.error))
  })

  test(`${task.slug} is not solved by saying nothing`, async () => {
    const run = await playTask(
      env,
      task,
      agentOf(() => ''),
    )
    assert.equal(run.reward, 0, JSON.stringify(run.error))
  })
}

test('letters are counted wherever they stand', () => {
  assert.deepEqual([countOf('eve', 'e'), countOf('eve', 'v'), countOf('eve', 'x'), countOf('ee', 'e')], [2, 1, 0, 2])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, playTask } from 'troupe/testing'
import makeAgent from './agent.ts'
import { env } from './env.ts'
import { SHOWN, totalOf } from './orders.ts'
import tasks from './tasks.ts'

for (const task of tasks) {
  test(`${task.slug} can be solved`, async () => {
    const run = await playTask(env, task, makeAgent({}))
    assert.equal(run.reward, 1, JSON.stringify(run.error))
  })

  test(`${task.slug} is not solved by doing nothing`, async () => {
    const run = await playTask(
      env,
      task,
      agentOf(() => 'done'),
    )
    assert.equal(run.reward, 0, JSON.stringify(run.error))
  })
}

test('a script that knows the shown total by heart is worth nothing', async () => {
  for (const task of tasks) {
    const run = await playTask(
      env,
      task,
      agentOf(async (_, { shell }) => (await shell()).writeFile('total.sh', `echo ${totalOf(SHOWN)}\n`)),
    )
    assert.equal(run.reward, 0, JSON.stringify(run.error))
  }
})

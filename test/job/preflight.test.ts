import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { TroupeError } from '../../src/errors.ts'
import { Job } from '../../src/job/job.ts'
import { planProvision, preflight } from '../../src/job/preflight.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { FakeProviderPool, FakeRuntime } from '../actors/fake-runtime.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'

const test = suite('preflight')

const taskset = new Taskset('tasks', [{ env: 'fake', id: 'do', args: {}, slug: 'do' }])
const agent = createAgent({ name: 'answers', run: async () => ({ answer: 1, stop: 'done' }) })

test('the runtime hears what is planned, and a plan is made from the options alone', async () => {
  const runtime = new FakeRuntime()
  runtime.providerPool = new FakeProviderPool()
  const plan = planProvision({
    runtime,
    maxConcurrent: 8,
    pool: { strategy: 'cold', size: 0, source: { type: 'provider-pool', size: 3 } },
  })
  await preflight(taskset, agent, runtime, plan)
  await preflight(taskset, agent, runtime)
  assert.equal(runtime.plans, [{ sandboxes: 11, providerPool: true, tasks: taskset.tasks }, undefined])
})

test('a run tells its runtime too, before anything is made', async () => {
  const runtime = new FakeRuntime()
  runtime.preflight = async plan => {
    runtime.plans.push(plan)
    throw new TroupeError({ tag: 'over-quota', message: 'the account holds less' })
  }
  await using job = await Job.start('refused', { runtime, threads: 0, maxConcurrent: 5 })
  await assertRejects(taskset.run(agent, { job, group: 9 }), 'over-quota', /holds less/)
  await assertRejects(taskset.run(agent, { job, group: 2 }), 'over-quota', /holds less/)
  // No wider than the engine, and no more than there are runs.
  assert.equal(
    runtime.plans.map(plan => plan?.sandboxes),
    [5, 2],
  )
  assert.is(runtime.requests.length, 0)
})

test.run()

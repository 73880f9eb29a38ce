import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { repository, withScene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'

const test = suite('a job without groups of its own')

const arith = (name: string) => join(repository, 'environments/arith', name)
const taskset = (await Taskset.load(arith('tasks.ts'))).select(['0-3'])
const agent = createAgent({ name: 'one', run: async () => ({ answer: '1', stop: 'done' }) })

test('hands every group on, also those of an earlier process, counts them, and holds none', () =>
  withScene(async scene => {
    const settings = { plannedGroups: 8 }
    const options = { journal: scene.journal, settings, resume: true, seed: 1, threads: 0, keepGroups: false }
    const streamOnce = async (step: number) => {
      await using job = await Job.start('long', { ...options, runtime: new LocalRuntime(arith('env.ts')) })
      let groups = 0
      for await (const group of job.stream(taskset, agent, { group: 2, step })) {
        assert.is(group.runs.length, 2)
        groups += 1
      }
      const { finishedRuns } = job.snapshot()
      return { groups, finishedRuns, held: job.groups.length + job.runs.length, resumed: job.resumed }
    }
    assert.equal(await streamOnce(0), { groups: 4, finishedRuns: 8, held: 0, resumed: false })
    assert.equal(await streamOnce(0), { groups: 4, finishedRuns: 8, held: 0, resumed: true })
    assert.equal(scene.leftovers(), [])
  }))

test('is what one is not that says nothing', () =>
  withScene(async () => {
    await using job = await Job.start('short', { threads: 0, runtime: new LocalRuntime(arith('env.ts')) })
    for await (const _ of job.stream(taskset, agent, { group: 2 }));
    assert.is(job.groups.length, 4)
  }))

test.run()

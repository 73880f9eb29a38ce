import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'
import { until, withScene } from './scene.ts'

const test = suite('environment host that is killed, end to end')

test(
  'its members go on in a fresh host, and siblings that were graded are kept',
  () =>
    withScene(async scene => {
      const { directory, journal } = scene
      const taskset = await Taskset.load(join(directory, 'tasks.ts'))
      await using job = await Job.start('host-lost', {
        runtime: new LocalRuntime(join(directory, 'env.ts')),
        threads: 1,
        journal,
      })
      // Of each group, the first to come is graded at once; its sibling waits.
      const agent = createAgent(join(directory, 'agent.mjs'), { directory, holdSecond: true })
      const running = taskset.run(agent, { job, group: 2, seed: 1 })
      const half = until(
        () => job.snapshot().finishedRuns === 3 && scene.starts().length === 6,
        () => JSON.stringify(job.snapshot()),
      )
      await Promise.race([running, half])
      process.kill(scene.host(), 'SIGKILL')
      scene.go()
      await running
      assert.equal(
        job.runs.map(run => run.outcome),
        Array(6).fill('graded'),
      )
      assert.equal(job.runs.map(run => run.attempt).sort(), [1, 1, 1, 2, 2, 2])
      assert.is(scene.starts().length, 9)
      await job.close()
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test.run()

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'
import { NOTE_ENVIRONMENT } from './notes.ts'
import { until, withScene } from './scene.ts'

const test = suite('why a sandbox was lost, end to end')

test(
  'the run of a host that was killed carries how it ended, and what it wrote last',
  () =>
    withScene(async scene => {
      const { directory } = scene
      const taskset = await Taskset.load(join(directory, 'tasks.ts'))
      await writeFile(
        join(directory, 'complaining.ts'),
        `${NOTE_ENVIRONMENT}\nconsole.error('the disk is nearly full')\n`,
      )
      const runtime = new LocalRuntime(join(directory, 'complaining.ts'))
      await using job = await Job.start('why-lost', { runtime, threads: 1, retries: 0 })
      const agent = createAgent(join(directory, 'agent.mjs'), { directory, hold: [0, 1, 2] })
      const running = taskset.run(agent, { job, runtime, seed: 1 })
      await Promise.race([
        running,
        until(
          () => scene.starts().length === 3,
          () => JSON.stringify(job.snapshot()),
        ),
      ])
      process.kill(scene.host(), 'SIGKILL')
      scene.go()
      await running
      for (const { outcome, reward, error } of job.runs) {
        assert.equal([outcome, reward], ['infrastructure-error', null])
        assert.match(error?.message ?? '', /ended with signal SIGKILL/)
        assert.match(error?.message ?? '', /the disk is nearly full/)
        assert.is(error?.cause?.tag, 'sandbox-lost')
      }
    }),
  { deadlineMs: 60_000 },
)

test.run()

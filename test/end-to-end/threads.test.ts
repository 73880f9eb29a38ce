import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { suite } from '../support/suite.ts'
import { until, withScene } from './scene.ts'

const test = suite('threads that end, end to end')

const FAULTS = [
  ['exit', 'dies', {}],
  ['hang', 'hangs', { threadHangMs: 1_500 }],
  ['memory', 'runs out of memory', { threadHeapBytes: 48 * 1024 * 1024 }],
] as const

for (const [fault, title, options] of FAULTS)
  test(
    `a thread that ${title} loses no group, and nothing graded is done again`,
    () =>
      withScene(async scene => {
        const { directory, journal } = scene
        const taskset = await Taskset.load(join(directory, 'tasks.ts'))
        await using job = await Job.start('threads', {
          runtime: new LocalRuntime(join(directory, 'env.ts')),
          threads: 2,
          journal,
          ...options,
        })
        const agent = createAgent(join(directory, 'agent.mjs'), { directory, fault })
        const running = taskset.run(agent, { job, group: 2, seed: 1 })
        // All but one are durable when its thread ends.
        const fiveDurable = until(
          () => job.snapshot().finishedRuns === 5,
          () => JSON.stringify(job.snapshot()),
        )
        await Promise.race([running, fiveDurable])
        assert.is(scene.starts().length, 6)
        scene.go()
        await running
        assert.equal(
          job.groups.map(group => group.end.type),
          ['complete', 'complete', 'complete'],
        )
        assert.equal(
          job.runs.map(run => run.reward),
          [1, 1, 1, 1, 1, 1],
        )
        assert.is(scene.starts().length, 7, 'the one that was lost, and no other, began again')
        assert.is(new Set(scene.starts()).size, 6)
        await until(
          () => job.snapshot().pool?.leased === 0,
          () => JSON.stringify(job.snapshot().pool),
        )
        await job.close()
        assert.equal(scene.leftovers(), [])
      }),
    { deadlineMs: 60_000 },
  )

test(
  'a rollout that ends every thread it runs in is given up, with no reward, and the others are graded',
  () =>
    withScene(async scene => {
      const { directory, journal } = scene
      const taskset = await Taskset.load(join(directory, 'tasks.ts'))
      await using job = await Job.start('deadly', {
        runtime: new LocalRuntime(join(directory, 'env.ts')),
        threads: 1,
        journal,
      })
      const agent = createAgent(join(directory, 'agent.mjs'), { directory, deadly: '1' })
      await taskset.run(agent, { job, group: 1, seed: 1 })
      const ends = job.groups.map(({ task, end, runs }) => [
        task.args.n,
        end.type,
        runs[0]?.outcome,
        runs[0]?.stopReason,
        runs[0]?.reward,
      ])
      assert.equal(ends.sort(), [
        [0, 'complete', 'graded', 'done', 1],
        [1, 'dropped', 'infrastructure-error', 'thread-lost', null],
        [2, 'complete', 'graded', 'done', 1],
      ])
      await until(
        () => job.snapshot().pool?.leased === 0,
        () => JSON.stringify(job.snapshot().pool),
      )
      await job.close()
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test.run()

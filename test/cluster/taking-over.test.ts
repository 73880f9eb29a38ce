import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { TroupeError } from '../../src/errors.ts'
import { type IdSource, randomIds } from '../../src/ids.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import type { GroupStream } from '../../src/stream/index.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { drain, startWorker, withCluster } from './support/workers.ts'

const test = suite('a second coordinator')

/** The first is the job's: as two machines with copies of a journal have it. */
function sameJob(): IdSource {
  const [...given] = ['0000aaaa']
  return { ...randomIds, hex: bytes => given.shift() ?? randomIds.hex(bytes) }
}

/** How many runs were graded, or the error that ended it. */
async function follow(stream: GroupStream): Promise<number | TroupeError> {
  let graded = 0
  try {
    for await (const { runs } of stream) graded += runs.filter(({ reward }) => reward !== null).length
    return graded
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
}

test(
  'the first ends with an error that names both, the second has every run, and the worker is there for it at once',
  () =>
    withCluster(async (scene, url) => {
      const worker = await startWorker(scene, url, '--max-concurrent', '16')
      const environment = join(scene.directory, 'env.ts')
      const taskset = await Taskset.load(join(scene.directory, 'tasks.ts'))
      const agent = createAgent(join(scene.directory, 'agent.mjs'), { directory: scene.directory, holdSecond: true })
      const start = () =>
        Job.start('taken over', {
          runtime: new LocalRuntime(environment),
          // So long that neither a redelivery nor a silence helps.
          cluster: { nats: url, redeliverMs: 60_000, runtime: { arguments: {}, environment, rowsNameImages: false } },
          ids: sameJob(),
          seed: 1,
          group: 4,
        })
      await using first = await start()
      const taken = follow(first.stream(taskset, agent))
      await until(
        () => first.snapshot().finishedRuns === 3,
        () => `three have ended: ${worker.stderr()}`,
      )
      await using second = await start()
      assert.is(second.jobId, first.jobId)
      // The runs that the first has are rolled out again: the second's journal does not know them.
      const wanted = follow(second.stream(taskset, agent))
      const error = await taken
      assert.ok(error instanceof TroupeError)
      const { tag, message, details } = error.data
      assert.is(tag, 'job-taken-over')
      const { own, other } = details as Record<'own' | 'other', { epoch: string; host: string }>
      assert.not.equal(own, other)
      for (const { epoch, host } of [own, other]) assert.ok(message.includes(`life ${epoch} on ${host}`), message)
      assert.throws(() => first.stream(taskset, agent), /taken over/)
      await first.close()
      scene.go()
      assert.is(await wanted, 12)
      assert.not.ok(second.lost.aborted)
      // A run with other settings would be a coordinator of its own, and take the job from its own process.
      const otherwise = await follow(second.stream(taskset, agent, { step: 2, maxConcurrent: 2 }))
      assert.is(otherwise instanceof TroupeError ? otherwise.data.tag : otherwise, 'cluster-settings-differ')
      assert.not.ok(second.lost.aborted)
      await second.close()
      assert.is(await drain(worker), 0)
      assert.is(worker.stderr().match(/working for/g)?.length, 2)
      assert.not.match(worker.stderr(), /NATS did not/, worker.stderr())
    }),
  { deadlineMs: 60_000 },
)

test.run()

import * as assert from 'uvu/assert'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readContent } from './support/content.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('Ctrl-C at the coordinator')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'workers give up what they have, what has ended is kept, and the same command goes on; beside another job',
  () =>
    withCluster(async (scene, url) => {
      const worker = await startWorker(scene, url, '--max-concurrent', '24')
      const argv = evalNotes(scene, { holdSecond: true }, '--group', '4')
      const cluster = ['--cluster', url, '--redeliver-after', '60']
      const running = scene.start([...argv, ...cluster])
      await until(
        () => scene.starts().length === 12,
        () => `all have begun: ${running.stderr()}`,
      )
      await until(
        async () => (await scene.durable()).length === 3,
        () => `three have ended: ${running.stderr()}`,
      )
      running.child.kill('SIGINT')
      assert.is(await running.ended, 130, running.stderr())
      await until(
        () => worker.stderr().includes('is over here'),
        () => `the worker has let go of it: ${worker.stderr()}`,
      )
      assert.equal(scene.processes(), [worker.child.pid], 'no sandbox, no host and no coordinator is left')

      const again = scene.start([...argv, ...cluster])
      const beside = scene.start([...argv, ...cluster, '--no-journal', '--seed', '2'])
      await until(
        () => scene.starts().length === 12 + 9 + 12,
        () => `both have begun: ${again.stderr()} ${beside.stderr()}`,
      )
      scene.go()
      assert.is(await again.ended, 0, again.stderr())
      assert.match(again.stderr(), /going on with job-/)
      assert.is(await beside.ended, 0, beside.stderr())
      assert.is(scene.starts().length, 12 + 9 + 12, 'what had ended was not begun again')
      assert.is(await drain(worker), 0, worker.stderr())
      assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test.run()

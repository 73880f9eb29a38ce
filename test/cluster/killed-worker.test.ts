import * as assert from 'uvu/assert'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readContent } from './support/content.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('a worker killed')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'its groups go to another without the runs that have ended, and nothing of it is left',
  () =>
    withCluster(async (scene, url) => {
      const workers = [
        await startWorker(scene, url, '--max-concurrent', '4'),
        await startWorker(scene, url, '--max-concurrent', '4'),
      ]
      const argv = evalNotes(scene, { holdSecond: true }, '--group', '4')
      const running = scene.start([...argv, '--cluster', url, '--redeliver-after', '3'])
      // The first of each note has ended, and all others hold the sandboxes that there are.
      await until(
        () => scene.starts().length === 10,
        () => `ten rollouts have begun: ${running.stderr()} ${scene.starts()}`,
      )
      await until(
        async () => (await scene.durable()).length === 3,
        () => `three have ended: ${running.stderr()}`,
      )
      const early = (await scene.durable()).map(({ task, seed }) => `note ${task.args.n}.${seed}`)
      const [lost, other] = workers
      lost?.child.kill('SIGKILL')
      await lost?.ended
      scene.go()
      assert.is(await running.ended, 0, running.stderr())
      assert.match(running.stderr(), /warning: the worker worker-\S+ gave no sign of life/)
      for (const start of early) assert.is(scene.starts().filter(each => each === start).length, 1, start)
      assert.ok(scene.starts().length > 12, 'what the dead worker had under way was begun again')
      assert.is(other && (await drain(other)), 0)

      assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      await until(
        () => scene.leftovers().length === 0,
        () => scene.leftovers().join('\n'),
      )
    }),
  SLOW,
)

test.run()

import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { readContent } from './support/content.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('one worker')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'a worker rolls out what eval hands out, and the journal is that of one machine',
  () =>
    withCluster(async (scene, url) => {
      // Before anything of Troupe has been at this server.
      const worker = await startWorker(scene, url, '--max-concurrent', '4')
      const argv = evalNotes(scene, {}, '--group', '4')
      assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
      const clustered = await scene.run([...argv, '--journal', 'clustered', '--cluster', url])
      assert.is(clustered.exit, 0, clustered.stderr)
      assert.is(await drain(worker), 0, worker.stderr())
      assert.match(worker.stderr(), /working for job-\w+\n[\s\S]*job-\w+ is over here, after 12 rollouts\n/)

      const content = await readContent(`${scene.directory}/clustered`)
      assert.equal(content, await readContent(`${scene.directory}/alone`))
      assert.is(Object.keys(content.runs).length, 12)
      assert.is(Object.keys(content.groups).length, 3)
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test.run()

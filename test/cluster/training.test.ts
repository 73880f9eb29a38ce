import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { repository, until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readContent } from './support/content.ts'
import { drain, startWorker, withCluster } from './support/workers.ts'

const test = suite('training on workers')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

const ARITH = join(repository, 'environments/arith')

test(
  'the coordinator is killed and the same command goes on; journal and policy are those of one machine',
  () =>
    withCluster(async (scene, url) => {
      const argv = ['train', ARITH, '--task-ids', '0-3', '--steps', '2', '--group', '4', '--no-eval', '--seed', '5']
      const own = (journal: string) => ['--journal', journal, '--policies', `${journal}-policies`]
      const worker = await startWorker(scene, url, '--max-concurrent', '4')
      const clustered = [
        ...argv,
        ...own(scene.journal),
        '--cluster',
        url,
        '--redeliver-after',
        '3',
        '--policy-host',
        '127.0.0.2',
      ]
      const killed = scene.start(clustered)
      await until(
        // In the midst of the second step.
        async () => (await scene.durable()).length > 18,
        () => killed.stderr(),
      )
      // 127.0.0.2, as the kernel writes it: loopback is many addresses.
      assert.match(readFileSync('/proc/net/tcp', 'latin1'), / 0200007F:[0-9A-F]{4} 00000000:0000 0A /)
      killed.child.kill('SIGKILL')
      await killed.ended
      const again = await scene.run(clustered)
      assert.is(again.exit, 0, again.stderr)
      assert.match(again.stderr, /going on with job-/)
      assert.is(await drain(worker), 0)

      assert.is((await scene.run([...argv, ...own('alone')])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test.run()

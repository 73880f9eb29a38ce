import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { PolicyLine } from '../../src/cluster/policy-board.ts'
import { repository, until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readBucket } from './support/buckets.ts'
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
        // In the midst of the second step, with the first's version told.
        async () => (await scene.durable()).length > 18 && (await readBucket(url, 'troupe-policy')).size === 1,
        () => killed.stderr(),
        60_000,
      )
      // 127.0.0.2, as the kernel writes it: loopback is many addresses.
      assert.match(readFileSync('/proc/net/tcp', 'latin1'), / 0200007F:[0-9A-F]{4} 00000000:0000 0A /)
      killed.child.kill('SIGKILL')
      await killed.ended
      for (const name of [scene.journal, `${scene.journal}-policies`])
        cpSync(name, `${name}-old`, { recursive: true, filter: path => !path.endsWith('.sock') })
      const again = await scene.run(clustered)
      assert.is(again.exit, 0, again.stderr)
      const [, job = ''] = /going on with (job-\w+)/.exec(again.stderr) ?? []

      // Each version as it was served, and by whom; the second life has taken over what the first had served.
      const lines = (await readBucket<PolicyLine>(url, 'troupe-policy')).get(job) ?? []
      assert.equal(
        lines.map(({ step }) => step),
        [0, 0, 1],
      )
      const versions = [...new Set(lines.map(({ version }) => version))]
      assert.is(versions.length, 2)
      assert.is(new Set(lines.map(({ epoch }) => epoch)).size, 2)
      for (const [step, version] of versions.entries())
        assert.match(worker.stderr(), new RegExp(`${job} serves the policy ${version} of step ${step + 1}\n`))

      const old = await scene.run(clustered.map(word => (word.startsWith(scene.journal) ? `${word}-old` : word)))
      assert.is(old.exit, 2, old.stderr)
      assert.match(old.stderr, new RegExp(`${job} has served the policy ${versions[1]} of step 1 .*ends with step 0 `))
      assert.is(await drain(worker), 0)

      assert.is((await scene.run([...argv, ...own('alone')])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test.run()

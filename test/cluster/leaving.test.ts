import { Kvm } from '@nats-io/kv'
import * as assert from 'uvu/assert'
import type { DeskMessage, WorkerNote, WorkerReport } from '../../actors/cluster-messages.ts'
import { connectNats } from '../../src/cluster/connect.ts'
import type { JobEntry } from '../../src/cluster/job-board.ts'
import type { Lease } from '../../src/cluster/leases.ts'
import { openNodeLinks } from '../../src/cluster/node-links.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readBucket } from './support/buckets.ts'
import { readContent } from './support/content.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('workers that come and go')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'SIGTERM: nothing new, what is under way is handed back after its time; who joins meanwhile goes on with it',
  () =>
    withCluster(async (scene, url) => {
      const leaving = await startWorker(scene, url, '--max-concurrent', '4', '--drain', '0.2')
      const argv = evalNotes(scene, { holdSecond: true }, '--group', '4')
      // So long that a redelivery would be seen as a test that takes its whole time.
      const running = scene.start([...argv, '--cluster', url, '--redeliver-after', '60'])
      await until(
        () => scene.starts().length >= 4,
        () => `a group has begun: ${running.stderr()}`,
      )
      const joining = await startWorker(scene, url, '--max-concurrent', '16')
      await until(
        () => joining.stderr().includes('working for'),
        () => `the second has joined: ${joining.stderr()}`,
      )
      const left = drain(leaving)
      await until(
        () => leaving.stderr().includes('taking nothing new'),
        () => leaving.stderr(),
      )
      assert.is(await left, 0, leaving.stderr())
      const [lease, ...others] = [...(await readBucket<Lease>(url, 'troupe-leases')).values()].flat()
      assert.equal(others, [], 'it has left no lease')
      assert.match(joining.stderr(), new RegExp(`${lease?.node} works for`))
      // Agents are held still: what is handed back has begun again elsewhere.
      scene.go()
      assert.is(await running.ended, 0, running.stderr())
      assert.is(await drain(joining), 0, joining.stderr())
      assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test(
  'SIGTERM: what ends in its time is not handed back',
  () =>
    withCluster(async (scene, url) => {
      const leaving = await startWorker(scene, url, '--max-concurrent', '4')
      const argv = evalNotes(scene, { hold: [0, 1, 2] }, '--group', '4')
      const running = scene.start([...argv, '--cluster', url, '--redeliver-after', '60'])
      await until(
        () => scene.starts().length === 4,
        () => `a group has begun: ${running.stderr()}`,
      )
      const left = drain(leaving)
      await until(
        () => leaving.stderr().includes('taking nothing new'),
        () => leaving.stderr(),
      )
      scene.go()
      assert.is(await left, 0)
      await until(
        async () => (await scene.durable()).length === 4,
        () => 'the group has ended',
      )
      assert.is(scene.starts().length, 4, 'nothing new was begun')
      const joining = await startWorker(scene, url)
      assert.is(await running.ended, 0, running.stderr())
      assert.is(scene.starts().length, 12, 'nothing was begun twice')
      assert.is(await drain(joining), 0)
    }),
  SLOW,
)

test(
  'of two versions none works for the other, and both are named on both sides',
  () =>
    withCluster(async (scene, url) => {
      const running = scene.start([...evalNotes(scene, {}), '--cluster', url])
      const connection = await connectNats({ urls: url, role: 'coordinator', name: 'test' })
      const system = makeSystem({ node: 'worker-other' })
      try {
        const jobs = await new Kvm(connection).open('troupe-jobs')
        const readEntry = async () => {
          for await (const key of await jobs.keys()) return (await jobs.get(key))?.json<JobEntry>()
          return undefined
        }
        let entry: JobEntry | undefined
        await until(
          async () => {
            entry = await readEntry().catch(() => undefined) // It is not made yet.
            // First only who has taken the job.
            return entry?.dispatcher !== undefined
          },
          () => running.stderr(),
        )
        // A worker of another version, as a coordinator hears it.
        const links = openNodeLinks(connection, system, () => 'one', console.error)
        links.connect(entry?.node ?? '')
        const other: WorkerNote = {
          node: 'worker-other',
          host: 'h',
          owner: 'o',
          version: '9.9.8',
          protocol: 1,
          credits: 8,
        }
        const load = { rollouts: 0, groups: 0, runs: 0, isDraining: false }
        const desk = system.spawn<null, DeskMessage>({ name: 'desk', initial: () => null, receive: () => null })
        system.ref<WorkerReport>(entry?.dispatcher ?? '').tell({ type: 'worker-up', worker: other, load, desk })
        await until(
          () => running.stderr().includes('9.9.8'),
          () => running.stderr(),
        )
        assert.match(running.stderr(), /is Troupe 9\.9\.8 \(protocol 1\) and the job's coordinator Troupe 0\.1\.0/)
        assert.is(scene.starts().length, 0, 'and it was given nothing')
        links.close()

        // A coordinator of another version, as a worker sees it.
        const worker = await startWorker(scene, url)
        const foreign = { protocol: 1, version: '9.9.9', jobId: 'job-other', epoch: 'e1', what: 'others may say more' }
        await until(
          async () => {
            connection.publish('troupe.jobs', JSON.stringify(foreign))
            return worker.stderr().includes('9.9.9')
          },
          () => worker.stderr(),
        )
        assert.match(worker.stderr(), /is Troupe 0\.1\.0 \(protocol 3\) and the job's coordinator Troupe 9\.9\.9/)
        assert.is(await running.ended, 0, `it works for its own version: ${running.stderr()}`)
        assert.is(await drain(worker), 0)
      } finally {
        await system.stop()
        await connection.close()
      }
    }),
  SLOW,
)

test.run()

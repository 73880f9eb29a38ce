import { jetstreamManager } from '@nats-io/jetstream'
import * as assert from 'uvu/assert'
import { connectNats } from '../../src/cluster/connect.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readContent } from './support/content.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('faults of the cluster')
/** Servers that choose leaders, one after the other, take ten seconds and more; then the rest of a test takes its time. */
const ELECTION_MS = 60_000
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'a worker that is cut off and comes back, and the leading server killed: nothing is lost and nothing is there twice',
  () =>
    withCluster(
      async (scene, url, nats) => {
        const cut = await startWorker(scene, url, '--max-concurrent', '4')
        const argv = evalNotes(scene, { hold: [0, 1, 2] }, '--group', '4')
        const running = scene.start([...argv, '--cluster', url, '--redeliver-after', '4'])
        await until(
          () => scene.starts().length === 4,
          () => `a group has begun: ${running.stderr()}`,
          ELECTION_MS,
        )
        const other = await startWorker(scene, url, '--max-concurrent', '16')
        await until(
          () => scene.starts().length === 12,
          () => `all have begun: ${running.stderr()} ${scene.starts()}`,
          ELECTION_MS,
        )
        const leader = await findLeader(url)
        // It neither hears nor says anything, and knows nothing of that.
        cut.child.kill('SIGSTOP')
        await nats.servers.find(({ name }) => name === leader)?.kill()
        await until(
          () => scene.starts().length === 16,
          () => `the other has its group, too: ${running.stderr()}\n${other.stderr()}`,
          ELECTION_MS,
        )
        cut.child.kill('SIGCONT')
        await until(
          () => cut.stderr().split('working for').length > 2,
          () => `it works again: ${cut.stderr()}`,
          ELECTION_MS,
        )
        scene.go()
        assert.is(await running.ended, 0, running.stderr())
        assert.is(await drain(cut), 0, cut.stderr())
        assert.is(await drain(other), 0, other.stderr())
        assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
        assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
        assert.equal(scene.leftovers(), [])
      },
      { cluster: 3 },
    ),
  SLOW,
)

async function findLeader(url: string): Promise<string | undefined> {
  const connection = await connectNats({ urls: url, role: 'observer', name: 'test' })
  try {
    const { streams } = await jetstreamManager(connection)
    const { cluster, config } = await streams.info('TROUPE_RESULTS')
    assert.is(config.num_replicas, 3)
    return cluster?.leader
  } finally {
    await connection.close()
  }
}

test.run()

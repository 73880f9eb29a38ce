/** Who watches a job on several machines sees its workers: that they are there, what they do, and what became of one that was killed. */
import * as assert from 'uvu/assert'
import { openFeedClient } from '../../src/feed/client.ts'
import type { FeedWorkers } from '../../src/feed/messages.ts'
import { feedSocketPath } from '../../src/feed/socket.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('a watched cluster')

/** The first that is so, of what a feed tells of the job's workers. */
async function seen(socket: string, isSo: (workers: FeedWorkers) => boolean): Promise<FeedWorkers> {
  let last: FeedWorkers | undefined
  const enough = new AbortController()
  const late = setTimeout(() => enough.abort(), 20_000)
  try {
    for await (const { workers } of openFeedClient(socket, { signal: enough.signal })) {
      last = workers ?? last
      if (workers !== undefined && isSo(workers)) return workers
    }
  } finally {
    clearTimeout(late)
    enough.abort()
  }
  throw new Error(`not seen: ${JSON.stringify(last)}`)
}

test(
  'the feed and troupe top show a worker, that it is lost when it is killed, and the one that goes on',
  () =>
    withCluster(async (scene, url) => {
      const first = await startWorker(scene, url, '--max-concurrent', '4')
      const argv = evalNotes(scene, { hold: [0, 1, 2] }, '--group', '4')
      const running = scene.start([...argv, '--cluster', url, '--redeliver-after', '3'])
      await until(
        () => scene.starts().length === 4,
        () => `a group has begun: ${first.stderr()} ${running.stderr()}`,
      )
      const socket = feedSocketPath(scene.journal)
      const { list, ...whole } = await seen(
        socket,
        ({ list: [worker] }) => worker?.groups === 1 && worker.sandboxes === 4,
      )
      assert.equal(whole, { count: 1, credits: 4, creditsFree: 0 })
      const [worker] = list
      assert.is(list.length, 1)
      assert.match(worker?.node ?? '', /^worker-\S+-[0-9a-f]{8}$/)
      assert.equal(
        [worker?.state, worker?.rollouts, worker?.credits, worker?.runs, worker?.rate],
        ['joined', 4, 4, 0, 0],
      )
      const top = () => scene.run(['top', '--once'])
      const before = (await top()).stdout
      assert.match(before, /^workers 1 {2}their rollouts 4\/4$/m)
      const name = worker?.node.slice('worker-'.length)
      assert.match(before, new RegExp(`^${name} +joined +█{8} +4/4 +0\\.0 +1 +0 +4 +\\d+ s$`, 'm'))

      first.child.kill('SIGKILL')
      await first.ended
      const after = await seen(socket, ({ list: [one] }) => one?.state === 'lost')
      const [lost] = after.list
      assert.equal([after.count, after.credits, lost?.groups, lost?.rollouts], [0, 0, 1, 4])
      assert.is(lost?.othersAt, (lost?.heardAt ?? 0) + 3_000)
      const alone = (await top()).stdout
      assert.match(alone, /^workers 0 {2}1 lost {2}their rollouts 0\/0$/m)
      assert.match(alone, /^\d\d:\d\d:\d\d +cluster +the worker worker-\S+ gave no sign of life/m)
      assert.match(alone, new RegExp(`^${name} +lost \\d+ s +1 group (for others soon|wait for a worker) `, 'm'))

      const second = await startWorker(scene, url, '--max-concurrent', '4')
      const both = await seen(socket, ({ list: [, other] }) => other?.state === 'joined' && other.groups > 0)
      assert.equal(
        both.list.map(({ state }) => state),
        ['lost', 'joined'],
      )
      assert.equal(
        [both.list[1]?.rollouts, both.credits],
        [4, 4],
        'no room is given out twice while a group is looked at',
      )
      scene.go()
      assert.is(await running.ended, 0, running.stderr())
      assert.is(await drain(second), 0)
    }),
  { deadlineMs: 120_000 },
)

test.run()

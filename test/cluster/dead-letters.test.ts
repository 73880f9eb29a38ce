import { jetstreamManager } from '@nats-io/jetstream'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { connectNats } from '../../src/cluster/connect.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import type { Cli, Scene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('a group that takes workers down')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

/** Starts a worker in the place of each that ends, until `over` resolves. Resolves with how many ended by themselves. */
async function keepWorking(scene: Scene, url: string, over: Promise<unknown>): Promise<number> {
  let isOver = false
  void over.then(() => {
    isOver = true
  })
  for (let lost = 0; ; lost += 1) {
    // Without threads: what ends a thread ends the worker.
    const worker: Cli = await startWorker(scene, url, '--threads', '0', '--max-concurrent', '16')
    await Promise.race([worker.ended, over])
    if (!isOver) continue
    await drain(worker)
    return lost
  }
}

test(
  'after three workers its runs count as lost and its plan is a dead letter; groups that were beside it are graded',
  () =>
    withCluster(async (scene, url) => {
      const running = scene.start([
        ...evalNotes(scene, { deadly: '1' }, '--group', '2'),
        '--cluster',
        url,
        '--redeliver-after',
        '2',
      ])
      assert.is(await keepWorking(scene, url, running.ended), 3)
      assert.is(await running.ended, 1, running.stderr())
      const journal = await openLmdbJournal({
        directory: scene.journal,
        clock: systemClock,
        role: 'owner',
        readOnly: true,
      })
      try {
        const [job] = await journal.jobs()
        const ends: Record<string, string[]> = {}
        if (job !== undefined)
          for await (const { task, error, outcome } of journal.runs(job.jobId)) {
            const name = String(task.args.n)
            ends[name] = [...(ends[name] ?? []), error?.tag ?? outcome]
          }
        assert.equal(ends, {
          0: ['graded', 'graded'],
          1: ['plan-exhausted', 'plan-exhausted'],
          2: ['graded', 'graded'],
        })
      } finally {
        await journal.close()
      }
      const connection = await connectNats({ urls: url, role: 'coordinator', name: 'test' })
      try {
        const { streams } = await jetstreamManager(connection)
        assert.is((await streams.info('TROUPE_DEAD')).state.messages, 1)
        const letter = await streams.getMessage('TROUPE_DEAD', { seq: 1 })
        assert.match(
          letter?.header.get('Troupe-Reason') ?? '',
          /was given to 3 workers and none of them lived to end it/,
        )
        for (const name of ['TROUPE_PLANS', 'TROUPE_RESULTS'])
          assert.is((await streams.info(name)).state.messages, 0, `${name} is empty`)
      } finally {
        await connection.close()
      }
    }),
  SLOW,
)

test.run()

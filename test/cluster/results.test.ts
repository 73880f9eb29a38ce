import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { connectNats } from '../../src/cluster/connect.ts'
import type { JobEntry } from '../../src/cluster/job-board.ts'
import { resultsOf } from '../../src/cluster/names.ts'
import { packResult } from '../../src/cluster/wire.ts'
import { createAgent, Job, LocalRuntime, Taskset } from '../../src/index.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import type { DurableRun } from '../../src/rollout/run.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { readContent } from './support/content.ts'
import { drain, evalNotes, startWorker, withCluster } from './support/workers.ts'

const test = suite('results on their way')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

async function withConnection(url: string, body: (connection: NatsConnection) => Promise<void>): Promise<void> {
  const connection = await connectNats({ urls: url, role: 'coordinator', name: 'test' })
  try {
    await body(connection)
  } finally {
    await connection.close()
  }
}

test(
  'a run that is told twice, or again with another end, is there once and with its first end',
  () =>
    withCluster(async (scene, url) => {
      const worker = await startWorker(scene, url)
      const argv = evalNotes(scene, { holdSecond: true }, '--group', '2')
      const running = scene.start([...argv, '--cluster', url])
      await until(
        async () => (await scene.durable()).length === 3,
        () => running.stderr(),
      )
      const [run] = await readRuns(scene.journal)
      if (run === undefined) throw new Error('no run')
      const { header, trajectory } = run
      await withConnection(url, async connection => {
        const client = jetstream(connection)
        const forged = { ...header, reward: 0.25, attempt: 2 }
        const payload = packResult({ type: 'run', header: forged, trajectory, object: undefined })
        const subject = resultsOf(header.jobId, 'another')
        const entry = await (await new Kvm(connection).open('troupe-jobs')).get(header.jobId)
        const { epoch } = entry?.json<JobEntry>() ?? {}
        // As the worker has put it: the stream takes it for the same.
        const again = await client.publish(subject, payload, { msgID: `${header.runId}.${header.attempt}.${epoch}` })
        assert.is(again.duplicate, true)
        // From a worker that was thought dead, when the stream has forgotten the id.
        const late = await client.publish(subject, payload, { msgID: 'another' })
        assert.is(late.duplicate, false)
      })
      scene.go()
      assert.is(await running.ended, 0, running.stderr())
      assert.is(await drain(worker), 0)
      assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
    }),
  SLOW,
)

const TALKER = `
export default () => ({
  name: 'talker',
  async run({ prompt, seed, record }) {
    record({ role: 'assistant', text: String(seed).repeat(200_000), atMs: 0, tookMs: 0 })
    return { answer: String(prompt).split(' ')[1], stop: 'done' }
  },
})
`

test(
  'a trajectory that is too large for a message comes by the object store, which is empty afterwards',
  () =>
    withCluster(async (scene, url) => {
      await withFiles({ 'talker.mjs': TALKER }, async directory => {
        const worker = await startWorker(scene, url)
        const argv = ['eval', 'tasks.ts', `${directory}/talker.mjs`, '--all', '--group', '2', '--seed', '1']
        const clustered = await scene.run([...argv, '--cluster', url])
        assert.is(clustered.exit, 0, clustered.stderr)
        assert.is(await drain(worker), 0)
        assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
        const content = await readContent(scene.journal)
        assert.equal(content, await readContent(`${scene.directory}/alone`))
        const [first] = await readRuns(scene.journal)
        assert.ok((first?.header.bytes ?? 0) > 2 ** 20, 'more than a message holds')
        await withConnection(url, async connection => {
          const { streams } = await jetstreamManager(connection)
          const { state } = await streams.info('OBJ_troupe-trajectories', { subjects_filter: '$O.*.C.>' })
          assert.equal(state.subjects ?? {}, {}, 'no piece of a trajectory is left')
          assert.ok(state.last_seq > 6, 'they were there')
        })
      })
    }),
  SLOW,
)

const MANY_TASKS = `
import { note } from './env.ts'
export default Array.from({ length: 12 }, (_, n) => note({ n }))
`

test(
  'while nobody takes what has ended nothing more is handed out',
  () =>
    withCluster(async (scene, url) => {
      await withFiles(
        { 'tasks.ts': MANY_TASKS, 'env.ts': `export * from '${scene.directory}/env.ts'` },
        async directory => {
          const worker = await startWorker(scene, url, '--max-concurrent', '4')
          const environment = `${scene.directory}/env.ts`
          const runtime = new LocalRuntime(environment)
          const taskset = await Taskset.load(`${directory}/tasks.ts`)
          await using job = await Job.start('slow', {
            runtime,
            group: 2,
            maxConcurrent: 4,
            maxWaitingBytes: 1,
            cluster: { nats: url, runtime: { arguments: {}, environment, rowsNameImages: false } },
          })
          const agent = createAgent(`${scene.directory}/agent.mjs`, { directory: scene.directory })
          const groups = job.stream(taskset, agent)[Symbol.asyncIterator]()
          assert.is((await groups.next()).done, false)
          // What was under way has ended, and waits; of twelve groups most have not begun.
          await until(
            () => job.snapshot().creditsInUse === 0 && job.snapshot().waitingBytes > 0,
            () => JSON.stringify(job.snapshot()),
          )
          assert.ok(scene.starts().length <= 2 * 4, `${scene.starts().length} rollouts have begun`)
          let count = 1
          for (let next = await groups.next(); next.done !== true; next = await groups.next()) count += 1
          assert.is(count, 12)
          assert.is(scene.starts().length, 24)
          await job.close()
          assert.is(await drain(worker), 0)
        },
      )
    }),
  SLOW,
)

async function readRuns(directory: string): Promise<readonly DurableRun[]> {
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner', readOnly: true })
  try {
    const [job] = await journal.jobs()
    const runs: DurableRun[] = []
    if (job !== undefined)
      for await (const header of journal.runs(job.jobId))
        runs.push({ header, trajectory: journal.trajectory(header.runId) })
    return runs
  } finally {
    await journal.close()
  }
}

test.run()

/** Acknowledgements of results that never reach the server, which refuses them: each of them is lost. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, nanos } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { joinParts } from '../../src/cluster/codec.ts'
import { resultsConsumer, resultsOf, STREAMS } from '../../src/cluster/names.ts'
import { openParcels } from '../../src/cluster/parcels.ts'
import { openResultFeed } from '../../src/cluster/result-feed.ts'
import { ensureStreams, makeConsumers } from '../../src/cluster/streams.ts'
import { type ResultMessage, toPart } from '../../src/cluster/wire.ts'
import { toGroupId, toJobId } from '../../src/ids.ts'
import { openMemoryJournal } from '../../src/journal/memory-journal.ts'
import { until } from '../end-to-end/scene.ts'
import { makeHeader } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { startNats } from './support/nats.ts'

const test = suite('lost acknowledgements')

const NO_ACKS = `authorization { users = [
  { user: "coordinator", password: "word", permissions: { publish: { deny: ["$JS.ACK.>"] } } }
] }`
const JOB = toJobId('job-1')
const OF = { jobId: JOB, life: 1 }
const TRAJECTORY = new Uint8Array(100).fill(7)
/** Where the server would give them out again. */
const AGAIN_MS = 300

test('what was taken is not waited for, although the server has heard of nothing, and is told once', async () => {
  await using nats = await startNats({ config: NO_ACKS })
  const connection = await connect({ servers: nats.urls, user: 'coordinator', pass: 'word' })
  try {
    const manager = await jetstreamManager(connection)
    await ensureStreams(connection, manager)
    await makeConsumers(manager, OF, 30_000, async () => {})
    await manager.consumers.update(STREAMS.results, resultsConsumer(OF), { ack_wait: nanos(AGAIN_MS) })
    const info = () => manager.consumers.info(STREAMS.results, resultsConsumer(OF))
    let looks = 0
    const { streams } = manager
    const getMessage = streams.getMessage.bind(streams)
    streams.getMessage = (stream, query) => {
      looks += 1
      return getMessage(stream, query)
    }

    const headers = [0, 1, 2].map(member =>
      makeHeader({ member, index: member === 2 ? 1 : 0, bytes: TRAJECTORY.byteLength }),
    )
    const [, , last] = headers
    assert.ok(last !== undefined)
    const ended = toGroupId('group-0-2')
    const results: ResultMessage[] = [
      { type: 'handed-back', groupId: ended, epoch: 'e', start: 1, losses: 0 },
      ...headers.map(header => ({ type: 'run', header, trajectory: TRAJECTORY, object: undefined }) as const),
    ]
    // Two together, and one that the journal has with one that it does not have yet.
    const messages = [results.slice(0, 2), results.slice(2)]
    for (const together of messages)
      await jetstream(connection).publish(resultsOf(JOB, 'worker-1'), joinParts(together.map(toPart)))

    const journal = openMemoryJournal()
    let write = () => {}
    const written = new Promise<void>(resolve => {
      write = resolve
    })
    let isWriting = false
    const told: string[] = []
    const troubles: unknown[] = []
    const feed = await openResultFeed(connection, manager, {
      ...OF,
      journal: {
        ...journal,
        async putRun(header, trajectory) {
          if (header.runId === last.runId) {
            isWriting = true
            await written
          }
          await journal.putRun(header, trajectory)
        },
      },
      parcels: openParcels(connection),
      clock: systemClock,
      isWanted: () => true,
      onRun: ({ runId }, trajectory) => {
        assert.equal(Buffer.from(trajectory), Buffer.from(TRAJECTORY))
        told.push(runId)
      },
      onEarly: () => troubles.push('all are wanted'),
      onEnd: ({ type }) => told.push(type),
      onGap: () => troubles.push('nothing is in the object store'),
      onUnkept: (_groupId, error) => troubles.push(error),
      onError: error => troubles.push(error),
    })
    try {
      await until(
        () => isWriting,
        () => told.join(),
      )
      // What the journal does not have yet is waited for.
      let isSettled = false
      const settled = Promise.all([feed.settled(), feed.takenSoFar()]).then(() => {
        isSettled = true
      })
      const before = looks
      await until(
        () => looks > before + 6,
        () => `${looks - before} looks`,
      )
      assert.is(isSettled, false)
      write()
      await settled
      assert.is((await info()).num_ack_pending, messages.length, 'the server waits for all of them')

      const all = ['handed-back', ...headers.map(({ runId }) => runId)].sort()
      await until(
        async () => (await info()).delivered.consumer_seq >= 3 * messages.length,
        () => 'given out three times',
      )
      await feed.settled()
      assert.equal(told.sort(), all)
      assert.equal(troubles, [])
    } finally {
      await feed.close()
    }
  } finally {
    await connection.close()
  }
})

test.run()

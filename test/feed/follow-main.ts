/** A process that writes a journal, for those who follow it: told what to do by lines on stdin. */
import { createInterface } from 'node:readline'
import { systemClock } from '../../src/clock.ts'
import { openFeed } from '../../src/feed/open-feed.ts'
import { openFeedSocket } from '../../src/feed/socket.ts'
import { toJobId, toRunId } from '../../src/ids.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { publish } from '../../src/telemetry/channels.ts'
import { callKey, evaluationKey, recordKey } from '../../src/training/loop/marks.ts'
import { makeGroupRecord, makeHeader, makeTrajectory } from '../journal/fixtures.ts'
import { jobOf, stepOf } from '../telemetry/metrics/scene.ts'

const [directory = '', name = 'job-1'] = process.argv.slice(2)
const jobId = toJobId(name)
const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner' })
await journal.putJob({ jobId, name: 'calc', startedAt: Date.now(), seed: 1, settings: { model: 'm' } })
const feed = openFeed({
  ...jobOf(jobId),
  name: 'calc',
  settings: {},
  live: async () => ({ rollouts: [], phases: {} }),
  async *earlierGroups() {},
})
let socket: { close(): Promise<void> } | undefined

async function obey(command: string, argument: string): Promise<void> {
  if (command === 'run') {
    const failed = argument.endsWith('!')
    const header = makeHeader({
      jobId,
      runId: toRunId(argument),
      endedAt: Date.now(),
      ...(failed ? { reward: null, outcome: 'infrastructure-error', stopReason: 'sandbox-lost' } : {}),
    })
    await journal.putRun(header, packTrajectory(makeTrajectory()))
    publish('run', header)
  } else if (command === 'group')
    await journal.putGroup({ ...makeGroupRecord({ runs: [makeHeader({ jobId })] }), jobId })
  else if (command === 'step') {
    const step = Number(argument)
    const end = {
      type: 'over',
      accepted: ['group-0-0'],
      rejected: [],
      unknown: [],
      datums: 2,
      loss: 1,
      tookMs: 5,
      startedAt: Date.now(),
      error: null,
    }
    await journal.putRecord(jobId, callKey(step, 0), {
      call: 0,
      groups: ['group-0-0'],
      callsBefore: 0,
      end: { type: 'sending' },
    })
    await journal.putRecord(jobId, callKey(step, 0), { call: 0, groups: ['group-0-0'], callsBefore: 0, end })
    await journal.putRecord(jobId, recordKey(step), stepOf({ step }))
    await journal.putRecord(jobId, evaluationKey(step, 'held-out'), { afterSteps: step, split: 'held-out', runs: 2 })
  } else if (command === 'socket') socket = await openFeedSocket(feed, directory)
  else if (command === 'over') {
    feed.over()
    await socket?.close()
  }
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', argument = ''] = line.split(' ')
  if (command === 'end') break
  await obey(command, argument)
  console.log(`done ${line}`)
}
await socket?.close()
await feed.close()
await journal.close()

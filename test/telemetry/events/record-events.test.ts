import * as assert from 'uvu/assert'
import { toJobId } from '../../../src/ids.ts'
import { publish } from '../../../src/telemetry/channels.ts'
import { EVENT_TYPES, type JobEvent } from '../../../src/telemetry/events/job-event.ts'
import { recordEvents, SAMPLE_MS } from '../../../src/telemetry/events/record-events.ts'
import { makeHeader } from '../../journal/fixtures.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { groupOf, jobId, jobOf, poolOf, stepOf } from '../metrics/scene.ts'

const test = suite('recording events')

async function recording(
  body: (events: JobEvent[]) => Promise<void> | void,
  job = jobOf(),
  clock = new VirtualClock(),
): Promise<void> {
  const events: JobEvent[] = []
  const stop = recordEvents(job, { append: event => void events.push(event) }, clock)
  try {
    await body(events)
  } finally {
    stop()
  }
}

test('runs and groups are their heads: nothing of a trajectory, and no long message', () =>
  recording(events => {
    const error = { tag: 'sandbox-lost', message: 'x'.repeat(5_000), details: { output: 'y'.repeat(5_000) } }
    publish('run', makeHeader({ outcome: 'infrastructure-error', reward: null, error, failedPhase: 'agent' }))
    publish('group', groupOf())
    publish('group', groupOf({ end: { type: 'dropped', reason: 'member-lost', error } }))
    publish('run', makeHeader({ jobId: toJobId('another') }))
    const [run, group, dropped, ...rest] = events
    assert.equal(rest, [])
    assert.equal([run?.type, run?.environment, run?.task, run?.reward], ['run-ended', 'calc', 'repair-3', null])
    assert.equal([run?.tookMs, run?.failedPhase, run?.timings], [1_000, 'agent', { agent: 12.5 }])
    assert.equal([group?.type, group?.end, group?.rewards], ['group-ended', { type: 'complete' }, [0.5]])
    assert.is(dropped?.type, 'group-ended')
    for (const event of events) assert.ok(JSON.stringify(event).length < 1_600, JSON.stringify(event))
    for (const field of ['trajectory', 'turns', 'runs']) assert.not.match(JSON.stringify(group), `"${field}"`)
  }))

test('the pool is written down every few seconds while an engine runs, and no timer is left', async () => {
  const job = jobOf(jobId, () => ({ pool: poolOf(), creditsInUse: 5 }))
  const clock = new VirtualClock()
  const body = async (events: JobEvent[]) => {
    await clock.advance(2 * SAMPLE_MS)
    assert.equal(events, [])
    publish('engine', { type: 'started', jobId, runtime: 'local', threads: 1, maxConcurrent: 8 })
    await clock.advance(3 * SAMPLE_MS)
    publish('engine', { type: 'closed', jobId, sandboxesLeft: ['s-1'] })
    await clock.advance(3 * SAMPLE_MS)
    assert.equal(
      events.map(({ type }) => type),
      ['engine-started', 'pool', 'pool', 'pool', 'engine-closed'],
    )
    const [started, sample] = events
    assert.equal([started?.maxConcurrent, started?.jobId], [8, undefined])
    assert.is(sample?.creditsInUse, 5)
    assert.match(JSON.stringify(sample?.pool), '"ready":2')
    assert.equal(events.at(-1)?.sandboxesLeft, ['s-1'])
    publish('engine', { type: 'started', jobId, runtime: 'local', threads: 1, maxConcurrent: 8 })
  }
  await recording(body, job, clock)
  assert.is(clock.pending, 0)
})

test('a training is told step by step, with counts in the place of lists', () =>
  recording(events => {
    const tell = (event: Parameters<typeof publish<'trainingEvent'>>[1]['event']) =>
      publish('trainingEvent', { jobId, event })
    const { groupId } = makeHeader()
    tell({ type: 'resumed', history: { steps: [stepOf()], evaluations: [] } })
    tell({ type: 'step-began', step: 1, groups: 4, runs: 32 })
    tell({
      type: 'chunk-trained',
      step: 1,
      call: 0,
      consumed: [groupId, groupId],
      dropped: [],
      datums: 16,
      loss: 2,
      startedAt: 1_000,
      tookMs: 70,
      error: null,
    })
    tell({ type: 'adopted', step: 1, checkpointId: 'c-1' })
    tell({ type: 'step-ended', record: stepOf({ step: 1 }) })
    tell({ type: 'stopped' })
    assert.equal(
      events.map(({ type }) => type),
      ['training-resumed', 'step-began', 'chunk-trained', 'step-adopted', 'step-ended', 'training-stopped'],
    )
    assert.equal([events[0]?.steps, events[2]?.consumed, events[4]?.loss], [1, 2, 12.5])
  }))

test('problems say where they were told, and what names no job is this one’s, too', () =>
  recording(events => {
    publish('actor', { tag: 'actor-failed', message: 'it broke', address: 'main/pool', details: { jobId } })
    publish('sandbox', { tag: 'left', message: 'of no job' })
    publish('deadLetter', { tag: 'dead-letter', message: 'lost', details: { jobId: 'another' } })
    publish('report', { type: 'problem', jobId, error: { tag: 'refused', message: 'no' } })
    publish('cluster', { tag: 'worker-lost', message: 'silent', details: { jobId } })
    assert.equal(events, [
      { type: 'problem', kind: 'actor', tag: 'actor-failed', message: 'it broke', address: 'main/pool' },
      { type: 'problem', kind: 'sandbox', tag: 'left', message: 'of no job' },
      { type: 'problem', kind: 'report', tag: 'refused', message: 'no' },
      { type: 'problem', kind: 'cluster', tag: 'worker-lost', message: 'silent' },
    ])
    assert.equal(
      events.filter(({ type }) => !EVENT_TYPES.includes(type)),
      [],
    )
  }))

test.run()

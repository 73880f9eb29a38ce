import * as assert from 'uvu/assert'
import { noteSecret } from '../../../src/redact.ts'
import { type EventLog, type EventLogPorts, makeEventLog } from '../../../src/telemetry/events/event-log.ts'
import type { JobEvent } from '../../../src/telemetry/events/job-event.ts'
import { suite } from '../../support/suite.ts'
import { settle, VirtualClock } from '../../support/virtual-clock.ts'

const test = suite('event log')
const event = (n: number): JobEvent => ({ type: 'run-ended', n })

/** A log over a file that is written to when the test lets it. */
function makeScene(given: Partial<EventLogPorts> = {}) {
  const lines: string[] = []
  const failures: unknown[] = []
  const late: (readonly [waitedMs: number, missing: number])[] = []
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5))
  const disk: { gate: Promise<void>; fails: { readonly after: number } | undefined; closed: number; writes: number } = {
    gate: Promise.resolve(),
    fails: undefined,
    closed: 0,
    writes: 0,
  }
  const log: EventLog = makeEventLog({
    file: {
      async append(more) {
        disk.writes += 1
        await disk.gate
        const whole = disk.fails === undefined ? more : more.slice(0, disk.fails.after)
        lines.push(...whole)
        return disk.fails === undefined
          ? { written: whole.length }
          : { written: whole.length, error: new Error('no space left') }
      },
      async close() {
        disk.closed += 1
      },
    },
    job: 'job-1',
    clock,
    onFailed: error => void failures.push(error),
    onLate: (...told) => void late.push(told),
    ...given,
  })
  const parsed = () => lines.map(line => JSON.parse(line))
  return { log, clock, disk, lines, failures, late, parsed }
}

function hold(disk: { gate: Promise<void> }): () => void {
  let open = () => {}
  disk.gate = new Promise(resolve => {
    open = () => resolve()
  })
  return () => open()
}

test('an event is one line with its time, type and job first, and all are written before the end', async () => {
  const { log, lines, disk, clock } = makeScene()
  log.append({ type: 'step-began', step: 0 })
  await clock.advance(1_500)
  for (let n = 0; n < 1_000; n += 1) log.append(event(n))
  await log.close()
  await log.close()
  assert.is(lines[0], '{"at":"2026-01-02T03:04:05.000Z","type":"step-began","job":"job-1","step":0}')
  assert.is(lines[1], '{"at":"2026-01-02T03:04:06.500Z","type":"run-ended","job":"job-1","n":0}')
  assert.is(lines.length, 1_001)
  assert.equal(
    lines.slice(1).map(line => JSON.parse(line).n),
    Array.from({ length: 1_000 }, (_, n) => n),
  )
  assert.equal([disk.closed, log.dropped], [1, 0])
  assert.ok(disk.writes < 20, 'many events are one write')
})

test('a disk that does not keep up holds nobody up: what does not fit is dropped, and a line says how many', async () => {
  const { log, disk, parsed } = makeScene({ capacity: 10 })
  const open = hold(disk)
  log.append(event(0))
  await settle()
  for (let n = 1; n <= 15; n += 1) log.append(event(n))
  assert.is(log.dropped, 5)
  open()
  await log.close()
  const written = parsed()
  assert.equal(
    written.filter(({ type }) => type === 'run-ended').map(({ n }) => n),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  assert.equal(
    written.filter(({ type }) => type === 'events-dropped').map(({ count }) => count),
    [5],
  )
})

test('a write that fails is told once, what was lost is counted, and the log goes on', async () => {
  const { log, disk, failures, parsed } = makeScene()
  disk.fails = { after: 1 }
  for (let n = 0; n < 4; n += 1) log.append(event(n))
  await settle()
  assert.equal([log.dropped, failures.length], [3, 1])
  log.append(event(4))
  await settle()
  // The line that says what is missing is the one that got through.
  assert.equal([log.dropped, failures.length], [4, 1])
  disk.fails = undefined
  log.append(event(5))
  await log.close()
  const written = parsed().map(({ type, n, count }) => [type, n ?? count])
  assert.equal(written, [
    ['run-ended', 0],
    ['events-dropped', 3],
    ['events-dropped', 1],
    ['run-ended', 5],
  ])
})

test('an end that the disk holds up is waited for some seconds; what still waits then is dropped, and told', async () => {
  const { log, disk, clock, late, parsed } = makeScene()
  const open = hold(disk)
  log.append(event(0))
  await settle()
  assert.is(disk.writes, 1, 'the disk has the first one')
  for (const n of [1, 2]) log.append(event(n))
  const closed = log.close()
  await clock.advance(4_999)
  assert.equal([late, log.dropped], [[], 0])
  await clock.advance(1)
  await closed
  assert.equal(late, [[5_000, 3]])
  assert.is(log.dropped, 3, 'of what the disk has nobody knows')
  // A disk that comes back says so of the first one, and takes the line that tells of the others.
  open()
  await settle()
  assert.is(log.dropped, 2)
  assert.equal(
    parsed().map(({ type, n, count }) => [type, n ?? count]),
    [
      ['run-ended', 0],
      ['events-dropped', 2],
    ],
  )
  assert.is(disk.closed, 1)
})

test('what comes after the end is not written', async () => {
  const { log, lines } = makeScene()
  await log.close()
  log.append(event(0))
  await settle()
  assert.equal(lines, [])
})

test('secrets are in no line, wherever in an event they are', async () => {
  const { log, lines } = makeScene()
  const secret = 'planted-secret-of-the-event-log'
  noteSecret(secret)
  log.append({ type: 'problem', message: `refused ${secret}`, error: { deep: [`Bearer abcdefghijklmnop`] } })
  await log.close()
  assert.is(lines.length, 1)
  assert.not.match(lines[0] ?? '', secret)
  assert.not.match(lines[0] ?? '', 'abcdefghijklmnop')
  assert.match(lines[0] ?? '', '[hidden]')
})

test.run()

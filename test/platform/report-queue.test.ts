import * as assert from 'uvu/assert'
import type { ErrorData } from '../../src/errors.ts'
import { reportRefused, reportUnanswered, reportUnreachable } from '../../src/platform/errors.ts'
import { ReportQueue, type Settlement } from '../../src/platform/report-queue.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { headerOf, trajectoryOf } from './support/runs.ts'

const test = suite('report queue')
const ADDRESSES = { apiUrl: 'http://api', telemetryUrl: 'http://telemetry', webUrl: 'http://web' }
const BODY = { job_id: 'j', group_id: 'g', task_slug: 's' }
const ENDED = { header: headerOf(), trajectory: packTrajectory(trajectoryOf()) }
const CALL = { method: 'POST', url: 'http://api/x' }

/** A queue whose requests wait until they are answered by hand, or are answered by `reply` at once. */
function scene(limits: Partial<{ lanes: number; traces: number; bytes: number }> = {}) {
  const clock = new VirtualClock()
  const asked: string[] = []
  const waiting: { resolve(): void; reject(error: unknown): void }[] = []
  const settled: [string, Settlement][] = []
  const problems: ErrorData[] = []
  const world: { reply: ((path: string) => unknown) | undefined; most: number; closed: boolean } = {
    reply: () => undefined,
    most: 0,
    closed: false,
  }
  let entered = 0
  const queue = new ReportQueue({
    clock,
    addresses: ADDRESSES,
    samples: false,
    limits: { lanes: 2, traces: 100, bytes: 1_000_000, ...limits },
    jobEntered() {
      entered += 1
    },
    settled: (traceId, as) => void settled.push([traceId, as]),
    problem: error => void problems.push(error),
    http: {
      post(url) {
        asked.push(new URL(url).pathname.replace(/^\/v2/, ''))
        const error = world.reply?.(url)
        if (world.closed) return Promise.reject(reportUnreachable(CALL, new Error('closed')))
        if (world.reply !== undefined) return error === undefined ? Promise.resolve() : Promise.reject(error)
        return new Promise((resolve, reject) => {
          waiting.push({ resolve, reject })
          world.most = Math.max(world.most, waiting.length)
        })
      },
      async close() {
        world.closed = true
        for (const { reject } of waiting.splice(0)) reject(reportUnreachable(CALL, new Error('closed')))
      },
    },
  })
  return { clock, queue, asked, waiting, settled, problems, world, entered: () => entered }
}

test('the job is entered first, and of each trace its entry, its spans and its exit go in this order', async () => {
  const { queue, asked, settled, entered } = scene()
  const entering = queue.enterJob('j', { name: 'n', group: 1 })
  queue.enter('one', BODY)
  queue.end('one', BODY, ENDED)
  queue.end('two', BODY, ENDED)
  assert.equal(asked, ['/trace/job/j/enter'])
  await entering
  await settle()
  assert.is(entered(), 1)
  for (const trace of ['one', 'two'])
    assert.equal(
      asked.filter(path => path.includes(`/${trace}/`)),
      [`/trace/${trace}/enter`, `/trace/${trace}/telemetry-upload`, `/trace/${trace}/exit`],
    )
  assert.equal(settled, [
    ['one', 'reported'],
    ['two', 'reported'],
  ])
})

test('a run that ends while it is being entered is entered once', async () => {
  const { queue, asked, waiting, world, settled } = scene()
  world.reply = undefined
  queue.enter('one', BODY)
  queue.end('one', BODY, ENDED)
  await settle()
  assert.equal(asked, ['/trace/one/enter'])
  world.reply = () => undefined
  waiting.shift()?.resolve()
  await settle()
  assert.equal(asked.slice(1), ['/trace/one/telemetry-upload', '/trace/one/exit'])
  assert.equal(settled, [['one', 'reported']])
})

test('no more requests are under way than there are lanes', async () => {
  const { queue, waiting, world } = scene({ lanes: 3 })
  world.reply = undefined
  for (let run = 0; run < 20; run += 1) queue.end(`t${run}`, BODY, ENDED)
  for (let answered = 0; answered < 60; answered += 1) {
    await settle(1)
    waiting.shift()?.resolve()
  }
  assert.is(world.most, 3)
})

test('where more comes than goes, the oldest that wait are dropped, told once and counted', async () => {
  const { queue, waiting, world, settled, problems, clock } = scene({ lanes: 1, traces: 3 })
  world.reply = undefined
  for (let run = 0; run < 10; run += 1) queue.end(`t${run}`, BODY, ENDED)
  await settle()
  assert.equal(
    settled,
    ['t1', 't2', 't3', 't4', 't5', 't6'].map(trace => [trace, 'dropped']),
  )
  assert.equal(
    problems.map(({ tag }) => tag),
    ['reports-dropped'],
  )
  world.reply = () => undefined
  waiting.shift()?.resolve()
  await queue.close(1_000)
  assert.equal(
    settled.slice(6),
    ['t0', 't7', 't8', 't9'].map(trace => [trace, 'reported']),
  )
  assert.is(clock.pending, 0)
})

test('the bytes that wait are bounded, too', async () => {
  const { queue, world, settled } = scene({ lanes: 1, bytes: 25_000 })
  world.reply = undefined
  const large = { header: headerOf(), trajectory: packTrajectory(trajectoryOf({ prompt: 'x'.repeat(8_000) })) }
  for (let run = 0; run < 5; run += 1) queue.end(`t${run}`, BODY, large)
  await settle()
  // One is being sent, one waits.
  assert.equal(
    settled.map(([trace]) => trace),
    ['t1', 't2', 't3'],
  )
})

test('a passing refusal is tried again after a growing wait, or as Retry-After says', async () => {
  const { queue, asked, world, clock, settled } = scene()
  const refusals: unknown[] = [
    reportRefused(CALL, 503, ''),
    reportUnreachable(CALL, new Error('reset')),
    reportRefused(CALL, 429, '', 7_000),
    undefined,
  ]
  world.reply = () => refusals.shift()
  queue.end('one', BODY, ENDED)
  const times: number[] = []
  for (let step = 0; step < 200 && settled.length === 0; step += 1) {
    const before = asked.length
    await clock.advance(100)
    if (asked.length > before) times.push(clock.now())
  }
  assert.equal(times, [500, 1_500, 8_500])
  assert.equal(settled, [['one', 'reported']])
})

test('a refusal for good is tried once more where the platform may have erred, and then counted; the exit is sent all the same', async () => {
  const { queue, asked, world, clock, settled, problems } = scene()
  world.reply = url => (url.includes('upload') ? reportRefused(CALL, 422, 'no such field') : undefined)
  queue.end('one', BODY, ENDED)
  await clock.advance(10_000)
  const upload = '/trace/one/telemetry-upload'
  assert.equal(asked, ['/trace/one/enter', upload, upload, '/trace/one/exit'])
  world.reply = url => (url.includes('two/exit') ? reportRefused(CALL, 500, '') : undefined)
  queue.end('two', BODY, ENDED)
  await clock.advance(10_000)
  assert.is(asked.filter(path => path === '/trace/two/exit').length, 2)
  assert.equal(settled, [
    ['one', 'failed'],
    ['two', 'failed'],
  ])
  assert.equal(
    problems.map(({ tag }) => tag),
    ['report-refused'],
  )
})

test('a refused key is told once, and after three refusals in a row nothing more is sent', async () => {
  const { queue, asked, world, clock, settled, problems } = scene()
  world.reply = () => reportRefused(CALL, 401, 'invalid API key')
  for (let run = 0; run < 10; run += 1) queue.end(`t${run}`, BODY, ENDED)
  await clock.advance(60_000)
  assert.is(settled.length, 10)
  assert.ok(settled.every(([, as]) => as === 'failed'))
  assert.equal(
    problems.map(({ tag }) => tag),
    ['report-unauthorized'],
  )
  assert.ok(asked.length <= 8, `${asked.length} requests`)
})

test('what is not answered within its time is not asked again', async () => {
  const { queue, asked, world, clock, settled } = scene()
  world.reply = url => (url.includes('enter') ? undefined : reportUnanswered(CALL, 30_000))
  queue.end('one', BODY, ENDED)
  await clock.advance(60_000)
  assert.equal(asked, ['/trace/one/enter', '/trace/one/telemetry-upload', '/trace/one/exit'])
  assert.equal(settled, [['one', 'failed']])
})

test('closing sends what waits, ends traces whose run has no end as cancelled, and leaves no timer', async () => {
  const { queue, asked, clock, settled } = scene()
  queue.enter('open', BODY)
  await settle()
  queue.end('one', BODY, ENDED)
  await queue.close(1_000)
  assert.equal(
    asked.filter(path => path.includes('open')),
    ['/trace/open/enter', '/trace/open/exit'],
  )
  assert.equal(settled, [['one', 'reported']])
  assert.is(clock.pending, 0)
})

test('closing ends at its deadline, whatever is under way: what was not sent is dropped', async () => {
  const { queue, world, clock, settled, problems } = scene({ lanes: 2 })
  world.reply = undefined
  for (let run = 0; run < 5; run += 1) queue.end(`t${run}`, BODY, ENDED)
  let closed = false
  const closing = queue.close(1_000).then(() => {
    closed = true
  })
  await clock.advance(999)
  assert.not.ok(closed)
  await clock.advance(1)
  await closing
  assert.is(settled.length, 5)
  assert.ok(settled.every(([, as]) => as === 'dropped'))
  assert.equal(problems, [])
  assert.is(clock.pending, 0)
})

test('a trajectory that cannot be read is told by its run, and the verdict is sent', async () => {
  const { queue, asked, settled, problems } = scene()
  queue.end('one', BODY, { header: headerOf(), trajectory: Uint8Array.of(1, 2, 3) })
  await settle()
  assert.equal(asked, ['/trace/one/enter', '/trace/one/exit'])
  assert.equal(settled, [['one', 'failed']])
  assert.match(problems[0]?.message ?? '', /run-0123456789abcdef-0 could not be put into a report/)
})

test.run()

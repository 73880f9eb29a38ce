import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import type { ReportCounts } from '../../src/job/reporter.ts'
import { CHANNELS, type ReportEvent } from '../../src/telemetry/channels.ts'
import { suite } from '../support/suite.ts'
import { type Fault, type PlatformServer, startPlatformServer } from './support/platform-server.ts'
import { adder, makeRuntime, reporterFor, rewardsOf, runJob, runOf, sums } from './support/reported-job.ts'

const test = suite('platform reporter')
let server: PlatformServer
let told: ReportEvent[] = []
let heard = () => {}
const listen = (message: unknown) => {
  told.push(message as ReportEvent)
  heard()
}
/** Resolves with the next event. */
const next = () =>
  new Promise<void>(resolve => {
    heard = resolve
  })

test.beforeEach(async () => {
  server = await startPlatformServer()
  told = []
  subscribe(CHANNELS.report, listen)
})
test.afterEach(async () => {
  unsubscribe(CHANNELS.report, listen)
  await server.close()
})

const problems = () => told.flatMap(event => (event.type === 'problem' ? [event.error.tag] : []))
const sum = ({ reported, failed, dropped, waiting }: ReportCounts) => [reported + failed + dropped, waiting]

test('a job, its traces, their steps and their verdicts arrive, in the forms that a strict platform takes', async () => {
  const { job, groups } = await runJob({ reporter: reporterFor(server) })
  assert.equal(server.problems, [])
  assert.equal(job.reported && { ...job.reported, url: '' }, {
    reported: 32,
    failed: 0,
    dropped: 0,
    waiting: 0,
    url: '',
  })
  const [[jobId = '', enters] = []] = server.jobs
  assert.equal(enters, [{ name: 'reported', group: 4 }])
  assert.is(job.reported?.url.replaceAll('-', ''), `${server.url}/jobs/${jobId}`)
  assert.is(server.traces.size, 32)
  const runs = new Map(groups.flatMap(group => group.runs.map(run => [String(run.runId), run] as const)))
  for (const trace of server.traces.values()) {
    const run = runs.get(runOf(trace))
    assert.equal([trace.enters.length, trace.exits.length], [1, 1])
    assert.equal([trace.enters[0]?.task_slug, trace.enters[0]?.job_id], [run?.task.slug, jobId])
    assert.equal([trace.exits[0]?.status, trace.exits[0]?.reward], ['completed', run?.reward])
    assert.equal(
      trace.spans.map(({ name }) => name),
      ['step.task', 'step.user', 'step.agent', 'step.task'],
    )
  }
  const ids = new Set([...server.traces.values()].map(({ enters: [enter] }) => enter?.group_id))
  assert.is(ids.size, 8)
  assert.equal(
    told.map(({ type }) => type),
    ['opened', 'closed'],
  )
})

test('a run is entered when it starts, not when it is over', async () => {
  let goOn = () => {}
  const held = new Promise<void>(resolve => {
    goOn = resolve
  })
  await using job = await Job.start('held', { runtime: makeRuntime(), threads: 0, reporter: reporterFor(server) })
  const over = (async () => {
    for await (const _ of job.stream(
      sums(2),
      adder(() => held),
    ));
  })()
  while (server.count('trace-enter') < 2) await new Promise(resolve => setImmediate(resolve))
  assert.is(server.count('trace-exit'), 0)
  goOn()
  await over
  await job.close()
  assert.is(server.count('trace-exit'), 2)
})

test('a run that is cancelled with its job is closed there as cancelled', async () => {
  const leaving = new AbortController()
  const job = await Job.start('left', { runtime: makeRuntime(), threads: 0, reporter: reporterFor(server) })
  const waiting = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  const over = (async () => {
    for await (const _ of job.stream(sums(2), adder(waiting), { signal: leaving.signal }));
  })().catch(() => 'cancelled')
  while (server.traces.size < 2) await new Promise(resolve => setImmediate(resolve))
  leaving.abort()
  assert.is(await over, 'cancelled')
  await job.close()
  assert.equal(
    [...server.traces.values()].flatMap(({ exits }) => exits.map(({ status }) => status)),
    ['cancelled', 'cancelled'],
  )
  assert.equal(job.reported && sum(job.reported), [0, 0])
})

const FAULTS: readonly (readonly [name: string, fault: Fault, problems: readonly string[], allFail: boolean])[] = [
  ['never answers', { type: 'silence' }, [], true],
  ['answers 500', { type: 'status', status: 500 }, ['report-refused'], true],
  ['answers 401', { type: 'status', status: 401 }, ['report-unauthorized'], true],
  ['answers 429', { type: 'status', status: 429, headers: { 'retry-after': '600' } }, [], true],
  ['resets every connection', { type: 'reset' }, [], true],
  ['is slow', { type: 'slow', ms: 20 }, [], false],
]

for (const [name, fault, expected, allFail] of FAULTS)
  test(`a platform that ${name} changes no result, holds up no rollout, and holds up no close for long`, async () => {
    const alone = await runJob()
    server.meet(() => fault)
    const job = await Job.start('reported', {
      runtime: makeRuntime(),
      threads: 0,
      seed: 3,
      group: 4,
      reporter: reporterFor(server, { closeMs: allFail ? 1_000 : 20_000 }),
    })
    const groups = []
    for await (const group of job.stream(sums(8), adder())) groups.push(group)
    // Every rollout is over, and the platform has taken nothing, or next to nothing.
    if (allFail) assert.is(job.reported?.reported, 0)
    assert.equal(rewardsOf(groups), alone.rewards)
    // Trouble is told while the job lasts, however busy the machine is that makes it.
    while (problems().length < expected.length) await next()
    const from = performance.now()
    await job.close()
    const tookMs = performance.now() - from
    if (allFail) assert.ok(tookMs < 10_000, `closing took ${tookMs} ms`)
    assert.ok(job.reported !== undefined)
    assert.equal(sum(job.reported), [32, 0], JSON.stringify(job.reported))
    if (allFail) assert.is(job.reported.reported, 0)
    else assert.is(job.reported.reported, 32)
    assert.equal(problems(), expected)
  })

test('a key that is refused now and then is a good key', async () => {
  server.meet((_route, nth) => (nth === 1 ? { type: 'status', status: 401 } : undefined))
  const { job } = await runJob({ reporter: reporterFor(server) })
  assert.is(job.reported?.reported, 32, JSON.stringify(job.reported))
  assert.equal(problems(), [])
})

test('what comes faster than it is taken is dropped, counted, and told once', async () => {
  server.meet(() => ({ type: 'slow', ms: 50 }))
  const reporter = reporterFor(server, { maxWaiting: 5, lanes: 1, closeMs: 100 })
  const { job, groups } = await runJob({ reporter })
  assert.is(groups.length, 8)
  assert.ok(job.reported !== undefined && job.reported.dropped > 0, JSON.stringify(job.reported))
  assert.equal(sum(job.reported), [32, 0])
  assert.equal(problems(), ['reports-dropped'])
})

test('no request holds the key anywhere but in its header, nor a secret of the process', async () => {
  process.env.PLANTED_API_KEY = 'planted-secret-0123456789'
  try {
    const gossip = createAgent({
      name: 'gossip',
      async run({ record }) {
        const { PLANTED_API_KEY: secret = '' } = process.env
        record({ role: 'assistant', text: `the key is ${secret}`, atMs: 0, tookMs: 1 })
        return { answer: { of: [secret] }, stop: 'done' }
      },
    })
    const { job } = await runJob({ reporter: reporterFor(server) }, sums(2), gossip)
    assert.is(job.reported?.reported, 8)
    assert.equal(server.problems, [])
    assert.match(server.requests.map(({ text }) => text).join(''), /the key is \[hidden\]/)
    for (const { text } of server.requests) assert.not.match(text, /planted-secret|key-of-the-platform-test/)
  } finally {
    delete process.env.PLANTED_API_KEY
  }
})

test('without a reporter nothing is sent, whatever the environment says', async () => {
  for (const [name, value] of Object.entries(server.variables)) process.env[name] = value
  try {
    const { job } = await runJob()
    assert.is(job.reported, undefined)
    assert.equal(server.requests, [])
  } finally {
    for (const name of Object.keys(server.variables)) delete process.env[name]
  }
})

test.run()

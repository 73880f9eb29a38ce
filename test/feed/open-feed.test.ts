/** Feeds of real jobs: what they tell is what the job counts, who goes on is seen while it does, and no other job's is. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { Environment } from '../../src/environment/environment.ts'
import type { LiveRollout } from '../../src/feed/messages.ts'
import { openFeed } from '../../src/feed/open-feed.ts'
import { toJobId, toRunId } from '../../src/ids.ts'
import { createAgent, Job, LocalRuntime, Taskset } from '../../src/index.ts'
import { PLANNED_GROUPS } from '../../src/job/find-unfinished.ts'
import { publish } from '../../src/telemetry/channels.ts'
import { agentOf, InProcessRuntime } from '../../src/testing/index.ts'
import { makeHeader } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { groupOf, jobId, jobOf, poolOf, stepOf, workerOf } from '../telemetry/metrics/scene.ts'
import { runsOf, statesOf, ticksOf, until, watch } from './scene.ts'

const test = suite('feeds of jobs')
const GROUP = 3
const arith = (name: string) => fileURLToPath(new URL(`../../../environments/arith/${name}`, import.meta.url))
const watched = (differing: Parameters<typeof jobOf>[1] = () => ({})) => ({
  ...jobOf(jobId, differing),
  name: 'calc',
  settings: { model: 'm', address: 'https://me:hunter22-hunter22@example.test/' },
  live: async () => ({ rollouts: [], phases: {} }),
  async *earlierGroups() {},
})

function makeTaskset(name: string) {
  const environment = new Environment(name)
  const template = environment.template('echo', {}, async function* () {
    yield Number(String(yield 'say 1') === '1')
  })
  const tasks = Array.from({ length: 4 }, (_, at) => ({ ...template(), slug: `${name}-task-${at}` }))
  return { environment, taskset: new Taskset(name, tasks) }
}

test('a job in the calling thread: a straggler is seen while it runs, everything that ended once, and then it is over', async () => {
  const { environment, taskset } = makeTaskset('one')
  const job = await Job.start('one', {
    runtime: new InProcessRuntime(environment),
    threads: 0,
    maxConcurrent: 64,
    settings: { why: 'test' },
  })
  const feed = openFeed(job)
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let begun = 0
  const agent = createAgent(
    agentOf(async () => {
      begun += 1
      if (begun === 1) await held
      return '1'
    }),
  )
  const { messages, stop } = watch(feed)
  const liveNow = () => messages.findLast(message => message.live !== undefined)?.live ?? []
  try {
    const running = taskset.run(agent, { job, group: GROUP })
    await until(() => runsOf(messages).size === 4 * GROUP - 1 && liveNow().length === 1)
    const [straggler] = liveNow()
    assert.is(straggler?.phase, 'agent')
    assert.ok(
      straggler !== undefined && straggler.since >= straggler.startedAt && !runsOf(messages).has(straggler.runId),
    )
    const { now } = messages.at(-1) ?? {}
    assert.equal(now?.phases, { agent: 1 })
    assert.is(now?.snapshot?.plannedRuns, 4 * GROUP)
    assert.ok((now?.rate ?? 0) > 0)
    release()
    await running
    await until(() => runsOf(messages).size === 4 * GROUP && liveNow().length === 0)
    await job.stopEngines()
    feed.over()
    assert.is(ticksOf(messages).at(-1)?.source, 'over')
    const { job: told } = statesOf(messages).at(-1) ?? {}
    assert.equal([told?.jobId, told?.name, told?.threads, told?.maxConcurrent], [job.jobId, 'one', 0, 64])
    assert.equal([told?.runtime, told?.settings], ['in-process', { why: 'test' }])
    const groups = messages.flatMap(message => message.groups ?? [])
    assert.equal(
      groups.map(({ rewards, end }) => [rewards, end]),
      Array.from({ length: 4 }, () => [[1, 1, 1], 'complete']),
    )
  } finally {
    release()
    stop()
    await feed.close()
    await job.close()
  }
})

test(
  'a job in two threads: both say who is in which phase',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'troupe-feed-'))
    const agentFile = join(directory, 'agent.mjs')
    await writeFile(
      agentFile,
      `import { existsSync } from 'node:fs'
       export default () => ({ name: 'waits', async run() {
         while (!existsSync(${JSON.stringify(join(directory, 'go'))})) await new Promise(r => setTimeout(r, 10))
         return { answer: '0', stop: 'done' }
       } })`,
    )
    const all = await Taskset.load(arith('tasks.ts'))
    const taskset = all.select(['0-3'])
    const job = await Job.start('threads', {
      runtime: new LocalRuntime(arith('env.ts'), { isolation: 'none' }),
      threads: 2,
      maxConcurrent: 16,
    })
    const feed = openFeed(job)
    const { messages, stop } = watch(feed)
    const liveNow = (): readonly LiveRollout[] => messages.findLast(message => message.live !== undefined)?.live ?? []
    try {
      const running = taskset.run(createAgent(agentFile), { job, group: 2 })
      await until(() => liveNow().filter(({ phase }) => phase === 'agent').length === 8)
      assert.is(new Set(liveNow().map(({ runId }) => runId)).size, 8)
      assert.is(messages.at(-1)?.now.phases?.agent, 8)
      const found = (await job.live(3)).rollouts
      assert.is(found.length, 3)
      await writeFile(join(directory, 'go'), '')
      await running
      await until(() => runsOf(messages).size === 8 && liveNow().length === 0)
      for (const { runId } of found) assert.is((await job.findRun(runId))?.trajectory.answer, '0')
      assert.is(await job.findRun(toRunId('run-of-nobody')), undefined)
    } finally {
      await writeFile(join(directory, 'go'), '')
      stop()
      await feed.close()
      await job.close()
      await rm(directory, { recursive: true, force: true })
    }
  },
  { deadlineMs: 60_000 },
)

test('workers come with a state and with ticks, so many at most, the silent and lost ones among them; on one machine none do', async () => {
  const clock = new VirtualClock()
  const feed = openFeed(watched(), { clock })
  const { messages, stop } = watch(feed)
  await clock.advance(0)
  assert.is(statesOf(messages)[0]?.workers, undefined)
  const each = Array.from({ length: 700 }, (_, at) => workerOf({ node: `w${at}` }))
  each.push(workerOf({ node: 'silent', state: 'silent' }), workerOf({ node: 'left', state: 'left', goneAt: 1 }))
  each.push(workerOf({ node: 'lost', state: 'lost', goneAt: 1 }))
  const figures = { workers: 701, credits: 5_608, creditsFree: 8 }
  publish('workers', { jobId, ...figures, each })
  publish('workers', { jobId: toJobId('other'), workers: 9, credits: 9, creditsFree: 9, each: [] })
  await clock.advance(250)
  const told = ticksOf(messages).at(-1)?.workers
  assert.equal([told?.count, told?.credits, told?.creditsFree, told?.list.length], [701, 5_608, 8, 500])
  assert.equal(
    told?.list.slice(0, 3).map(({ node }) => node),
    ['silent', 'lost', 'w0'],
  )
  await clock.advance(250)
  assert.is(ticksOf(messages).at(-1)?.workers, undefined, 'what has not changed is not told again')
  const late = watch(feed)
  assert.equal(statesOf(late.messages)[0]?.workers, told)
  late.stop()
  stop()
  await feed.close()
})

test('what a training tells, problems, the hit rate and the cost come with it; other jobs and secrets do not', async () => {
  const clock = new VirtualClock()
  const pool = poolOf({ created: 20, leases: { hit: 9, cold: 2, claim: 0, fork: 1 } })
  const snapshot = () => ({ pool, sandboxMs: 90_000 })
  const feed = openFeed(watched(snapshot), {
    clock,
    prices: { perSandboxSecond: 0.01, perCreate: 0.5, currency: 'EUR' },
  })
  const { messages, stop } = watch(feed)
  await clock.advance(0)
  const { now, job } = statesOf(messages)[0] ?? {}
  assert.equal([now?.hitRate, now?.cost, now?.step], [0.75, { amount: 10.9, currency: 'EUR' }, null])
  assert.not.match(JSON.stringify(job?.settings), 'hunter22')
  publish(
    'run',
    makeHeader({
      jobId,
      reward: null,
      outcome: 'agent-error',
      error: { tag: 'x', message: 'at https://a:secret-secret@b/' },
    }),
  )
  publish('run', makeHeader({ runId: makeHeader().runId, jobId: toJobId('other') }))
  publish('group', groupOf())
  publish('trainingEvent', { jobId, event: { type: 'step-began', step: 4, groups: 2, runs: 8 } })
  const groupId = groupOf().groupId
  publish('trainingEvent', {
    jobId,
    event: {
      type: 'chunk-trained',
      step: 4,
      call: 0,
      consumed: [groupId],
      dropped: [],
      startedAt: 0,
      datums: 3,
      loss: 1.5,
      tookMs: 20,
      error: null,
    },
  })
  publish('trainingEvent', { jobId, event: { type: 'step-ended', record: stepOf({ step: 4 }) } })
  publish('sandbox', { tag: 'left', message: 'it will not go', details: { jobId } })
  await clock.advance(250)
  const [tick, ...others] = ticksOf(messages)
  assert.equal(others, [])
  assert.equal([tick?.runs?.length, tick?.groups?.length, tick?.now.step], [1, 1, 4])
  assert.not.match(JSON.stringify(tick), 'secret-secret')
  assert.equal(tick?.failures?.[0]?.kind, 'x')
  assert.equal(tick?.chunks, [
    {
      step: 4,
      call: 0,
      groups: [groupId],
      dropped: [],
      datums: 3,
      loss: 1.5,
      tookMs: 20,
      endedAt: clock.wallTime() - 250,
    },
  ])
  assert.equal(tick?.steps, [stepOf({ step: 4 })])
  assert.equal(
    tick?.problems?.map(({ kind, tag }) => [kind, tag]),
    [['sandbox', 'left']],
  )
  stop()
  await feed.close()
  publish('run', makeHeader({ jobId }))
  assert.is(clock.pending, 0)
})

test('of a job that goes on, what the earlier process had made of it comes first, and nothing twice', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-feed-'))
  const { environment, taskset } = makeTaskset('again')
  const agent = createAgent(agentOf(async () => '1'))
  const start = () =>
    Job.start('again', {
      runtime: new InProcessRuntime(environment),
      threads: 0,
      maxConcurrent: GROUP,
      journal: join(directory, 'journal'),
      settings: { [PLANNED_GROUPS]: 4 },
      resume: true,
    })
  try {
    const first = await start()
    for await (const _ of taskset.stream(agent, { job: first, group: GROUP })) break
    await first.close()
    const second = await start()
    const feed = openFeed(second)
    const { messages, stop } = watch(feed)
    try {
      assert.is(second.resumed, true)
      await until(() => runsOf(messages).size >= GROUP)
      const earlier = runsOf(messages).size
      assert.ok(earlier < 4 * GROUP)
      await taskset.run(agent, { job: second, group: GROUP })
      await until(() => runsOf(messages).size === 4 * GROUP)
      assert.is((statesOf(messages).at(-1)?.groups.length ?? 0) > 0, true)
    } finally {
      stop()
      await feed.close()
      await second.close()
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('without prices nobody is told a cost, and without a lease no hit rate', async () => {
  const feed = openFeed(watched(), { clock: new VirtualClock() })
  const { messages, stop } = watch(feed)
  await until(() => messages.length > 0)
  assert.equal([messages[0]?.now.cost, messages[0]?.now.hitRate], [null, null])
  stop()
  await feed.close()
})

test.run()

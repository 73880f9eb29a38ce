import { register } from 'prom-client'
import * as assert from 'uvu/assert'
import { toJobId } from '../../../src/ids.ts'
import { createMetrics, type Metrics } from '../../../src/index.ts'
import { type KnownWorker, publish } from '../../../src/telemetry/channels.ts'
import { METRICS } from '../../../src/telemetry/metrics/catalogue.ts'
import type { MetricDefinition } from '../../../src/telemetry/metrics/definition.ts'
import { makeHeader } from '../../journal/fixtures.ts'
import { suite } from '../../support/suite.ts'
import { readDeclared, readSamples, sampleOf } from './exposition.ts'
import { groupOf, jobId, jobOf, poolOf, stepOf, workerOf } from './scene.ts'

const test = suite('metrics')
const definitions: readonly MetricDefinition[] = Object.values(METRICS)

/** Metrics of a job, listening as long as `body` runs. */
async function counting(
  body: (metrics: Metrics) => Promise<void>,
  job: Parameters<typeof createMetrics>[0] = jobOf(),
): Promise<void> {
  const metrics = await createMetrics(job)
  try {
    await body(metrics)
  } finally {
    metrics.close()
  }
}

test('runs and groups are counted by how they ended, and scrapes take nothing away', () =>
  counting(async metrics => {
    publish('run', makeHeader({ timings: { agent: 1_500, grading: 40 }, attempt: 3 }))
    publish('run', makeHeader({ outcome: 'infrastructure-error', reward: null, stopReason: 'sandbox-lost' }))
    publish('group', groupOf())
    publish('group', groupOf({ end: { type: 'dropped', reason: 'member-lost' } }))
    await metrics.text()
    publish('run', makeHeader({ reward: 1 }))
    const text = await metrics.text()
    assert.is(sampleOf(text, 'troupe_runs_total', { outcome: 'graded', environment: 'calc' }), 2)
    assert.is(sampleOf(text, 'troupe_runs_total', { outcome: 'infrastructure-error', environment: 'calc' }), 1)
    assert.is(sampleOf(text, 'troupe_run_stops_total', { reason: 'sandbox-lost' }), 1)
    assert.is(sampleOf(text, 'troupe_run_retries_total'), 2)
    assert.is(sampleOf(text, 'troupe_run_phase_seconds_count', { phase: 'agent' }), 3)
    assert.is(sampleOf(text, 'troupe_run_phase_seconds_bucket', { phase: 'agent', le: '2.5' }), 3)
    assert.is(sampleOf(text, 'troupe_run_phase_seconds_bucket', { phase: 'agent', le: '1' }), 2)
    assert.is(sampleOf(text, 'troupe_run_reward_count'), 2, 'a run without a grade has no reward')
    assert.is(sampleOf(text, 'troupe_run_reward_sum'), 1.5)
    assert.is(sampleOf(text, 'troupe_groups_total', { status: 'complete' }), 1)
    assert.is(sampleOf(text, 'troupe_groups_total', { status: 'partial' }), 0)
    assert.is(sampleOf(text, 'troupe_groups_dropped_total', { reason: 'member-lost' }), 1)
  }))

test("each job's metrics have a registry of their own, and nothing of another's", async () => {
  const other = toJobId('job-2')
  await counting(async one => {
    await counting(async two => {
      publish('run', makeHeader())
      publish('run', makeHeader({ jobId: other, task: { env: 'arith', id: 'add', args: {}, slug: 'add-1' } }))
      publish('actor', { tag: 'actor-failed', message: 'it broke', details: { jobId: other } })
      publish('sandbox', { tag: 'left', message: 'of no job' })
      const texts = [await one.text(), await two.text()] as const
      const environments = texts.map(text =>
        readSamples(text).flatMap(({ name, labels }) => (name === 'troupe_runs_total' ? [labels.environment] : [])),
      )
      assert.equal(environments, [['calc'], ['arith']])
      const problems = (kind: string) => texts.map(text => sampleOf(text, 'troupe_problems_total', { kind }))
      assert.equal(problems('actor'), [0, 1])
      assert.equal(problems('sandbox'), [1, 1], 'what names no job may be of any')
    }, jobOf(other))
  })
  assert.equal(register.getMetricsAsArray(), [], 'the global registry of prom-client has nothing')
})

test('the figures of engine and pool are those of the job when it is asked, and totals never fall', async () => {
  let pool = poolOf()
  let engineCpuMs = 4_000
  const job = jobOf(jobId, () => ({ pool, engineCpuMs, inFlight: 3, creditsInUse: 5, waitingBytes: 77 }))
  await counting(async metrics => {
    publish('engine', { type: 'started', jobId, runtime: 'local', threads: 1, maxConcurrent: 64 })
    const text = await metrics.text()
    assert.is(sampleOf(text, 'troupe_engines'), 1)
    assert.is(sampleOf(text, 'troupe_credits_limit'), 64)
    assert.is(sampleOf(text, 'troupe_credits_in_use'), 5)
    assert.is(sampleOf(text, 'troupe_waiting_bytes'), 77)
    assert.is(sampleOf(text, 'troupe_runs_in_flight'), 3)
    assert.is(sampleOf(text, 'troupe_engine_cpu_seconds_total'), 4)
    assert.is(sampleOf(text, 'troupe_pool_sandboxes', { state: 'leased' }), 3)
    assert.is(sampleOf(text, 'troupe_pool_target_sandboxes'), 8)
    assert.is(sampleOf(text, 'troupe_pool_leases_total', { kind: 'hit' }), 9)
    pool = poolOf({ leases: { hit: 4, cold: 5, claim: 0, fork: 0 }, created: 21 })
    engineCpuMs = 5_000
    publish('engine', { type: 'closed', jobId, sandboxesLeft: [] })
    const later = await metrics.text()
    assert.is(sampleOf(later, 'troupe_pool_leases_total', { kind: 'hit' }), 9)
    assert.is(sampleOf(later, 'troupe_pool_leases_total', { kind: 'cold' }), 5)
    assert.is(sampleOf(later, 'troupe_pool_sandboxes_created_total'), 21)
    assert.is(sampleOf(later, 'troupe_engine_cpu_seconds_total'), 5)
    assert.equal([sampleOf(later, 'troupe_engines'), sampleOf(later, 'troupe_credits_limit')], [0, 0])
  }, job)
})

test('a training shows its step, loss and policy, and before there is one it shows no 0', () =>
  counting(async metrics => {
    const tell = (event: Parameters<typeof publish<'trainingEvent'>>[1]['event']) =>
      publish('trainingEvent', { jobId, event })
    assert.is(sampleOf(await metrics.text(), 'troupe_training_loss'), undefined)
    tell({ type: 'step-began', step: 0, groups: 1, runs: 8 })
    const call = {
      type: 'chunk-trained',
      step: 0,
      call: 0,
      consumed: [],
      dropped: [],
      startedAt: 0,
      tookMs: 700,
    } as const
    tell({ ...call, datums: 16, loss: 12.5, error: null })
    tell({ ...call, datums: 0, loss: null, error: { tag: 'refused', message: 'no' } })
    tell({ type: 'step-ended', record: stepOf() })
    tell({ type: 'step-ended', record: stepOf({ step: 1, loss: Number.NaN, optimStep: 4 }) })
    const evaluation = { afterSteps: 2, split: 'held-out', runs: 8, solved: 6, errored: 0, wallMs: 9, versions: {} }
    tell({ type: 'evaluated', record: { ...evaluation, passRate: 0.75 }, step: 1_000_002, startedAt: 0 })
    const text = await metrics.text()
    assert.is(sampleOf(text, 'troupe_training_step'), 2)
    assert.is(sampleOf(text, 'troupe_training_policy_version'), 4)
    assert.ok(Number.isNaN(sampleOf(text, 'troupe_training_loss')), 'a loss that is no number is told as it is')
    assert.is(sampleOf(text, 'troupe_training_steps_total', { end: 'trained' }), 2)
    assert.is(sampleOf(text, 'troupe_training_chunks_total', { status: 'failed' }), 1)
    assert.is(sampleOf(text, 'troupe_training_chunk_seconds_sum'), 1.4)
    assert.is(sampleOf(text, 'troupe_training_step_seconds_sum', { part: 'whole' }), 5)
    assert.is(sampleOf(text, 'troupe_training_datums_total'), 16)
    assert.is(sampleOf(text, 'troupe_evaluation_pass_rate', { split: 'held-out' }), 0.75)
  }))

test('an engine on several machines shows its workers, and how many the runs that may go on now would keep busy', async () => {
  let runs = { plannedRuns: 1_000, finishedRuns: 0, creditsInUse: 0 }
  await counting(
    async metrics => {
      const wanted = async (released: number) => {
        runs = { ...runs, creditsInUse: released }
        return sampleOf(await metrics.text(), 'troupe_workers_wanted')
      }
      const tell = (each: readonly KnownWorker[], creditsFree: number) => {
        const credits = each.reduce((sum, worker) => sum + worker.credits, 0)
        publish('workers', { jobId, workers: each.length, credits, creditsFree, each })
      }
      publish('engine', { type: 'started', jobId, runtime: 'local', threads: 2, maxConcurrent: 512 })
      assert.is(await wanted(512), undefined, 'on one machine there are none')
      tell([], 0)
      assert.is(await wanted(0), 0)
      assert.is(await wanted(512), 1, 'the first tells what a worker has')
      const two = ['a', 'b'].map(node => workerOf({ node, credits: 64 }))
      tell(two, 28)
      assert.is(await wanted(512), 8)
      assert.is(await wanted(519), 8, 'no more than --max-concurrent: the last group may go over')
      assert.is(await wanted(129), 3, 'what is left of a worker is one')
      assert.is(await wanted(0), 0, 'a thousand are planned, and all of them wait for the trainer')
      const text = await metrics.text()
      assert.is(sampleOf(text, 'troupe_cluster_workers'), 2)
      assert.is(sampleOf(text, 'troupe_cluster_credits', { state: 'used' }), 100)
      assert.is(sampleOf(text, 'troupe_cluster_credits', { state: 'free' }), 28)
      const drains = workerOf({ node: 'c', state: 'draining', credits: 2 })
      const isSilent = workerOf({ node: 'd', state: 'silent', credits: 2 })
      tell([...two, drains, isSilent], 0)
      assert.is(await wanted(512), 8, 'one that takes nothing new does not say what a worker has')
      tell([], 0)
      assert.is(await wanted(512), 8, 'as the last that were there had it')
      publish('workers', { jobId: toJobId('job-2'), workers: 9, credits: 9, creditsFree: 9, each: [] })
      assert.is(sampleOf(await metrics.text(), 'troupe_cluster_workers'), 0)
      publish('engine', { type: 'closed', jobId, sandboxesLeft: [] })
      assert.is(await wanted(512), 0, 'nobody takes what is left')
    },
    jobOf(jobId, () => runs),
  )
})

test('what an earlier process trained is where the gauges begin, and no count of this one', () =>
  counting(async metrics => {
    const history = { steps: [stepOf(), stepOf({ step: 1, optimStep: 9 })], evaluations: [] }
    publish('trainingEvent', { jobId, event: { type: 'resumed', history } })
    const text = await metrics.text()
    assert.is(sampleOf(text, 'troupe_training_step'), 2)
    assert.is(sampleOf(text, 'troupe_training_policy_version'), 9)
    assert.is(sampleOf(text, 'troupe_training_steps_total', { end: 'trained' }), undefined)
  }))

test('the text declares just what is defined, each with its type and help', () =>
  counting(async metrics => {
    const declared = readDeclared(await metrics.text())
    assert.equal(
      [...declared].map(([name, { type, help }]) => ({ name, type, help })).sort(byName),
      definitions.map(({ name, type, help }) => ({ name, type, help })).sort(byName),
    )
  }))

test('names are as Prometheus has them: counters end in _total, and units are base units', () => {
  for (const { name, type } of definitions) {
    assert.match(name, /^troupe(_[a-z0-9]+)+$/)
    assert.is(name.endsWith('_total'), type === 'counter', name)
    assert.not.match(name, /_(ms|milliseconds|mib|kib|percent)(_|$)/, name)
  }
})

test('a label that comes from outside has so many values and no more', () =>
  counting(async metrics => {
    for (let at = 0; at < 100; at += 1)
      publish('run', makeHeader({ task: { env: `env-${at}`, id: 'x', args: {}, slug: `s-${at}` } }))
    publish('run', makeHeader({ task: { env: 'e"\n\\', id: 'x', args: {}, slug: 'quoted' } }))
    const text = await metrics.text()
    const runs = readSamples(text).filter(({ name }) => name === 'troupe_runs_total')
    assert.is(runs.length, 33)
    assert.is(sampleOf(text, 'troupe_runs_total', { outcome: 'graded', environment: 'other' }), 69)
  }))

test('labels of the program itself are on every sample', async () => {
  const metrics = await createMetrics(jobOf(), { labels: { engine: 'nightly' } })
  try {
    publish('run', makeHeader())
    const samples = readSamples(await metrics.text())
    assert.ok(samples.length > 20)
    assert.equal(
      samples.filter(({ labels }) => labels.engine !== 'nightly'),
      [],
    )
  } finally {
    metrics.close()
  }
})

test('closed metrics listen no more, and still say what they had counted', async () => {
  const metrics = await createMetrics(jobOf())
  publish('run', makeHeader())
  metrics.close()
  metrics.close()
  assert.is(publish('run', makeHeader()), false, 'nobody listens')
  const labels = { outcome: 'graded', environment: 'calc' }
  assert.is(sampleOf(await metrics.text(), 'troupe_runs_total', labels), 1)
})

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1
}

test.run()

/** Metrics of real engines: what they count is what the job counts, and no label holds an id. */
import * as assert from 'uvu/assert'
import { Environment } from '../../../src/environment/environment.ts'
import { createAgent, createMetrics, Job, Taskset } from '../../../src/index.ts'
import { METRICS } from '../../../src/telemetry/metrics/catalogue.ts'
import { agentOf, InProcessRuntime } from '../../../src/testing/index.ts'
import { suite } from '../../support/suite.ts'
import { readSamples, sampleOf } from './exposition.ts'

const test = suite('metrics of engines')
const GROUP = 3

function makeTaskset(name: string) {
  const environment = new Environment(name)
  const template = environment.template('echo', {}, async function* () {
    yield Number(String(yield 'say 1') === '1')
  })
  const tasks = Array.from({ length: 4 }, (_, at) => ({ ...template(), slug: `${name}-task-${at}` }))
  return { environment, taskset: new Taskset(name, tasks) }
}

async function rollOut(name: string) {
  const { environment, taskset } = makeTaskset(name)
  const job = await Job.start(name, { runtime: new InProcessRuntime(environment), threads: 0, maxConcurrent: 4 })
  const metrics = await createMetrics(job)
  const seen: number[] = []
  const agent = createAgent(
    agentOf(async () => {
      seen.push(job.snapshot().creditsInUse)
      return '1'
    }),
  )
  try {
    await taskset.run(agent, { job, group: GROUP })
    const during = await metrics.text()
    await job.close()
    return { job, during, after: await metrics.text(), seen }
  } finally {
    await job.close()
    metrics.close()
  }
}

test('two engines in one process count their own runs, and credits come back', async () => {
  const all = await Promise.all([rollOut('one'), rollOut('two')])
  for (const [place, { job, during, after, seen }] of all.entries()) {
    const labels = { outcome: 'graded', environment: place === 0 ? 'one' : 'two' }
    assert.is(sampleOf(during, 'troupe_runs_total', labels), 4 * GROUP)
    assert.is(sampleOf(during, 'troupe_groups_total', { status: 'complete' }), 4)
    assert.is(sampleOf(during, 'troupe_job_runs', { state: 'graded' }), job.snapshot().graded)
    assert.is(sampleOf(during, 'troupe_engines'), 1)
    assert.is(sampleOf(during, 'troupe_credits_limit'), 4)
    assert.ok(Math.max(...seen) > 0, 'a run that is at work holds a credit')
    assert.is(sampleOf(after, 'troupe_engines'), 0)
    assert.is(sampleOf(after, 'troupe_credits_in_use'), 0)
    assert.is(sampleOf(after, 'troupe_runs_total', labels), 4 * GROUP)
  }
})

test('no label holds the id of a job, a group, a run or a task, and none is there that is not defined', async () => {
  const { job, after } = await rollOut('labelled')
  const ids = [
    job.jobId,
    ...job.groups.flatMap(({ groupId, task }) => [groupId, task.slug, task.id]),
    ...job.runs.map(({ runId }) => runId),
  ]
  assert.is(ids.length, 1 + 3 * 4 + 4 * GROUP)
  const samples = readSamples(after)
  const values = samples.flatMap(({ labels }) => Object.values(labels))
  assert.equal(
    ids.filter(id => values.some(value => value.includes(id))),
    [],
  )
  const known = new Set<string>([
    'le',
    ...Object.values(METRICS).flatMap(each => ('labels' in each ? each.labels : [])),
  ])
  assert.equal(
    samples.flatMap(({ labels }) => Object.keys(labels)).filter(label => !known.has(label)),
    [],
  )
})

test.run()

/** What an embedding program gets: a page of its own job, read over its real routes while the job runs. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Environment } from '../../src/environment/environment.ts'
import { createAgent, Job, serveDashboard, Taskset } from '../../src/index.ts'
import { agentOf, InProcessRuntime } from '../../src/testing/index.ts'
import { readEvents, runsOf, until } from '../feed/scene.ts'
import { suite } from '../support/suite.ts'
import { ask } from './ask.ts'

const test = suite('dashboard of a job')

async function watching(journal: string | undefined): Promise<void> {
  const environment = new Environment('echo')
  const template = environment.template('echo', {}, async function* () {
    yield Number(String(yield 'say 1') === '1')
  })
  const taskset = new Taskset('echo', [template(), { ...template(), slug: 'again' }])
  const job = await Job.start('echo', {
    runtime: new InProcessRuntime(environment),
    threads: 0,
    ...(journal === undefined ? {} : { journal }),
  })
  const dashboard = await serveDashboard(job)
  const { origin } = new URL(dashboard.url)
  const reader = readEvents(`${origin}/feed`)
  try {
    assert.match(dashboard.url, /^http:\/\/127\.0\.0\.1:\d+\/$/)
    await until(() => reader.messages.length > 0)
    await taskset.run(createAgent(agentOf(async () => '1')), { job, group: 2 })
    await until(() => runsOf(reader.messages).size === 4)
    for (const [runId, told] of runsOf(reader.messages)) {
      const { status, json } = await ask(`${origin}/runs/${runId}`)
      assert.is(status, 200)
      const { run, prompt, answer } = json()
      assert.equal([run.runId, run.slug, run.reward, prompt, answer], [runId, told.slug, 1, 'say 1', '1'])
    }
    const missing = await ask(`${origin}/runs/run-0000`)
    assert.equal([missing.status, missing.json().error.tag], [404, 'run-not-kept'])
    const { shown, jobs } = (await ask(`${origin}/jobs`)).json()
    assert.equal([shown, jobs.length, jobs[0].runs, jobs[0].meanReward], [job.jobId, 1, 4, 1])
    assert.is((await ask(`${origin}/feed?job=job-of-nobody`)).status, 404)
    dashboard.over()
    await until(() => reader.messages.some(message => message.type === 'tick' && message.source === 'over'))
    assert.is((await ask(`${origin}/runs/${[...runsOf(reader.messages).keys()][0]}`)).status, 200)
  } finally {
    await dashboard.close()
    await dashboard.close()
    await job.close()
  }
  await reader.closed
}

test('a job that keeps its runs in memory', () => watching(undefined))

test('a job with a journal', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-dashboard-'))
  try {
    await watching(join(directory, 'journal'))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('beyond loopback its address has a token that nobody can guess', async () => {
  const job = await Job.start('echo', { threads: 0 })
  const dashboard = await serveDashboard(job, { host: '0.0.0.0' })
  try {
    const { pathname, port } = new URL(dashboard.url)
    assert.match(pathname, /^\/enter\/[0-9a-f]{32}$/)
    assert.is((await ask(`http://127.0.0.1:${port}/jobs`)).status, 401)
  } finally {
    await dashboard.close()
    await job.close()
  }
})

test.run()

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { PLANNED_GROUPS } from '../../src/job/find-unfinished.ts'
import { Job, type JobOptions } from '../../src/job/job.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { type PlatformServer, startPlatformServer } from './support/platform-server.ts'
import { adder, makeRuntime, reporterFor, runOf, sums } from './support/reported-job.ts'

const test = suite('platform reports of a resumed job')
const GROUPS = 8
let server: PlatformServer

test.beforeEach(async () => {
  server = await startPlatformServer()
})
test.afterEach(() => server.close())

/** Runs the job in this journal until so many groups have ended, or to its end. */
async function runPart(directory: string, untilGroups: number, options: JobOptions = {}) {
  const leaving = new AbortController()
  const job = await Job.start('parts', {
    runtime: makeRuntime(),
    threads: 0,
    seed: 3,
    group: 4,
    maxConcurrent: 4,
    journal: join(directory, 'journal'),
    settings: { [PLANNED_GROUPS]: GROUPS },
    resume: true,
    reporter: reporterFor(server),
    ...options,
  })
  let ended = 0
  try {
    for await (const _ of job.stream(sums(GROUPS), adder(), { signal: leaving.signal })) {
      ended += 1
      if (ended === untilGroups) leaving.abort()
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error
  } finally {
    await job.close()
  }
  return job
}

const completed = () =>
  [...server.traces.values()].map(({ exits }) => exits.filter(({ status }) => status === 'completed').length)

test('it goes on under the same ids, and no run that was reported is reported again', () =>
  withFiles({}, async directory => {
    const first = await runPart(directory, 3)
    const before = first.reported?.reported ?? 0
    assert.ok(before >= 12 && before < 32, String(before))
    const second = await runPart(directory, Number.POSITIVE_INFINITY)
    assert.ok(second.resumed)
    assert.is(second.reported?.url, first.reported?.url)
    assert.is(second.reported?.reported, 32 - before)
    assert.is(server.jobs.size, 1)
    assert.equal([...server.jobs.values()].flat().length, 1)
    assert.is(server.traces.size, 32)
    assert.equal(completed(), Array(32).fill(1))
    assert.is(new Set([...server.traces.values()].map(runOf)).size, 32)
    assert.equal(server.problems, [])
  }))

test('what the process that is gone could not report is reported by the next one', () =>
  withFiles({}, async directory => {
    server.meet(() => ({ type: 'silence' }))
    const first = await runPart(directory, 3, { reporter: reporterFor(server, { closeMs: 50 }) })
    assert.is(first.reported?.reported, 0)
    assert.ok((first.reported?.dropped ?? 0) >= 12)
    server.meet(undefined)
    const second = await runPart(directory, Number.POSITIVE_INFINITY)
    assert.is(second.reported?.url, first.reported?.url)
    assert.equal([second.reported?.reported, second.reported?.dropped], [32, 0])
    assert.equal(completed(), Array(32).fill(1))
    assert.equal(server.problems, [])
  }))

test('a job that was begun without reports is reported whole when it goes on with them', () =>
  withFiles({}, async directory => {
    const first = await Job.start('parts', {
      runtime: makeRuntime(),
      threads: 0,
      seed: 3,
      group: 4,
      journal: join(directory, 'journal'),
      settings: { [PLANNED_GROUPS]: GROUPS },
    })
    for await (const _ of first.stream(sums(2), adder()));
    await first.close()
    assert.is(server.requests.length, 0)
    const second = await runPart(directory, Number.POSITIVE_INFINITY)
    assert.ok(second.resumed)
    assert.is(second.reported?.reported, 32)
  }))

test.run()

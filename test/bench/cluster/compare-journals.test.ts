import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { compareJournals } from '../../../bench/cluster/compare-journals.ts'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { systemClock } from '../../../src/clock.ts'
import { Environment, z } from '../../../src/environment/index.ts'
import { toRunId } from '../../../src/ids.ts'
import { Job } from '../../../src/job/job.ts'
import { openLmdbJournal } from '../../../src/journal/lmdb-journal.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { agentOf, InProcessRuntime } from '../../../src/testing/index.ts'
import { suite } from '../../support/suite.ts'
import { withFiles } from '../../support/temporary-directory.ts'

const test = suite('comparing journals')

const env = new Environment('echo', { version: '1' })
const say = env.template('say', { args: z.object({ n: z.int() }) }, async function* ({ n }) {
  const answer = yield `say ${n}`
  yield answer === `${n}` ? 1 : 0
})
const TASKS = [0, 1, 2].map(n => say({ n }))

/** A journal of three groups of two; the agent is wrong about the notes that are named, or breaks. */
async function roll(journal: string, seed: number, { wrong = [], broken = [] }: Mistakes = {}): Promise<void> {
  const solve = agentOf(prompt => {
    const n = Number(String(prompt).replace('say ', ''))
    if (broken.includes(n)) throw new Error('broken')
    return wrong.includes(n) ? 'no' : `${n}`
  })
  await using job = await Job.start('echo', { journal, seed, threads: 0, runtime: new InProcessRuntime(env) })
  for await (const _group of job.stream(new Taskset('echo', TASKS), createAgent(solve), { group: 2 }));
}

interface Mistakes {
  readonly wrong?: readonly number[]
  readonly broken?: readonly number[]
}

test('the same work with the same seed is the same, whatever its ids and times', () =>
  withFiles({}, async directory => {
    const [one, other] = [join(directory, 'one'), join(directory, 'other')]
    await roll(one, 7)
    await roll(other, 7)
    assert.equal(await compareJournals(one, other, 6), { lost: 0, different: [], runs: 6 })
  }))

test('another answer, another seed and a run that nobody graded are told, by place', () =>
  withFiles({}, async directory => {
    const at = (name: string) => join(directory, name)
    await roll(at('right'), 7)
    await roll(at('wrong'), 7, { wrong: [1] })
    await roll(at('seed'), 8)
    await roll(at('broken'), 7, { broken: [2] })
    const wrong = await compareJournals(at('right'), at('wrong'), 6)
    assert.is(wrong.lost, 0)
    assert.is(wrong.different.filter(place => place.startsWith('run')).length, 2)
    assert.is(wrong.different.filter(place => place.startsWith('group')).length, 1)
    assert.is((await compareJournals(at('right'), at('seed'), 6)).different.length >= 6, true)
    const broken = await compareJournals(at('right'), at('broken'), 6)
    assert.ok(broken.different.length >= 2)
    assert.is((await compareJournals(at('right'), at('right'), 8)).lost, 2, 'two more were planned than are there')
  }))

test('a run that is there twice is refused', () =>
  withFiles({}, async directory => {
    const twice = join(directory, 'twice')
    await roll(twice, 7)
    const journal = await openLmdbJournal({ directory: twice, clock: systemClock, role: 'owner' })
    try {
      const [job] = await journal.jobs()
      assert.ok(job)
      const headers = []
      for await (const header of journal.runs(job.jobId)) headers.push(header)
      const [first] = headers
      assert.ok(first)
      await journal.putRun({ ...first, runId: toRunId('again') }, journal.trajectory(first.runId))
    } finally {
      await journal.close()
    }
    const thrown = await compareJournals(twice, twice, 6).catch((error: Error) => error)
    assert.match(thrown instanceof Error ? thrown.message : 'compared', /is there twice/)
  }))

test.run()

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { toGroupId, toJobId } from '../../src/ids.ts'
import { FINAL_RECORDS, findUnfinishedJob, PLANNED_GROUPS } from '../../src/job/find-unfinished.ts'
import { Job } from '../../src/job/job.ts'
import { openMemoryJournal } from '../../src/journal/memory-journal.ts'
import type { Group } from '../../src/rollout/group.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { planGroups } from '../../src/taskset/plan-groups.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { repository, withScene } from '../end-to-end/scene.ts'
import { makeGroupRecord } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'

const test = suite('steps of a job')

test('steps and rounds that are named give the groups their ids, and a later round stands behind the first', () =>
  withScene(async scene => {
    const arith = (name: string) => join(repository, 'environments/arith', name)
    const taskset = (await Taskset.load(arith('tasks.ts'))).select(['0-2'])
    const agent = createAgent({ name: 'idle', run: async () => ({ answer: '0', stop: 'done' }) })
    const journal = join(scene.directory, 'journal')
    const runtime = new LocalRuntime(arith('env.ts'))
    await using job = await Job.start('steps', { journal, runtime, threads: 0, seed: 1 })
    const run = async (step?: number, round?: number, selection = taskset) => {
      const groups: Group[] = []
      const options = { ...(step === undefined ? {} : { step }), ...(round === undefined ? {} : { round }) }
      for await (const group of job.stream(selection, agent, options)) groups.push(group)
      return groups.sort((a, b) => a.index - b.index)
    }
    const planned = (step: number) => planGroups({ jobId: job.jobId, tasks: taskset.tasks, group: 1, seed: 1, step })
    const ids = (groups: readonly { readonly groupId: string }[]) => groups.map(({ groupId }) => groupId)
    assert.equal(ids(await run(5)), ids(planned(5)))
    assert.equal(ids(await run()), ids(planned(0)), 'steps that are not named are counted apart')
    const [more] = await run(5, 1, taskset.select(['1']))
    assert.is(more?.index, 3)
    assert.not.ok(ids(planned(5)).includes(more?.groupId ?? ''))
    await job.records.put('note', { at: 5 })
    assert.equal([...(await job.records.list(''))], [['note', { at: 5 }]])
    await job.records.settle(more?.groupId ?? toGroupId(''), 'consumed')
  }))

test('a job of several steps is unfinished as long as it lacks a final record, one of a single step as long as groups lack', async () => {
  const journal = openMemoryJournal()
  const jobId = toJobId('job-1')
  const settings = { [FINAL_RECORDS]: ['step/1', 'evaluation'] }
  const put = (name: string, given: Readonly<Record<string, unknown>>) =>
    journal.putJob({ jobId, name, startedAt: 1, seed: 1, settings: given })
  await put('train', settings)
  await journal.putRecord(jobId, 'step/1', {})
  assert.is((await findUnfinishedJob(journal, 'train', settings))?.jobId, jobId)
  assert.is(await findUnfinishedJob(journal, 'train', { ...settings, steps: 2 }), undefined)
  await journal.putRecord(jobId, 'evaluation', {})
  assert.is(await findUnfinishedJob(journal, 'train', settings), undefined)
  await put('eval', { [PLANNED_GROUPS]: 1 })
  assert.is((await findUnfinishedJob(journal, 'eval', { [PLANNED_GROUPS]: 1 }))?.jobId, jobId)
  await journal.putGroup(makeGroupRecord())
  assert.is(await findUnfinishedJob(journal, 'eval', { [PLANNED_GROUPS]: 1 }), undefined)
})

test.run()

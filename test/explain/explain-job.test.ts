import * as assert from 'uvu/assert'
import { explainJob, pickStep, renderExplanation, toJson } from '../../src/explain/index.ts'
import { FINAL_RECORDS, PLANNED_GROUPS } from '../../src/job/find-unfinished.ts'
import type { JobRecord, Journal } from '../../src/journal/journal.ts'
import { openMemoryJournal } from '../../src/journal/memory-journal.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { callKey, evaluationKey, optimKey, recordKey } from '../../src/training/loop/marks.ts'
import { evaluationStep } from '../../src/training/loop/schedule.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'
import { evaluationRecord, stepRecord } from '../training/receipt/records.ts'
import { BEGAN, jobId, makeCall, makeOptim, makeRun } from './scene.ts'

const test = suite('explain: a job from its journal')

const makeJob = (settings: JobRecord['settings'] = {}): JobRecord => ({
  jobId,
  name: 'arith',
  startedAt: BEGAN,
  seed: 1,
  settings,
})

type Scenes = readonly ReturnType<typeof makeRun>[]

async function keep(journal: Journal, scenes: Scenes, { ends = true } = {}): Promise<void> {
  for (const { header, turns } of scenes) {
    const told = turns.map(turn => ({ text: '', ...turn }))
    await journal.putRun(header, packTrajectory({ prompt: '', turns: told, answer: '', grade: null }))
  }
  if (!ends) return
  for (const { header } of scenes) {
    const runs = scenes.map(scene => scene.header).filter(run => run.groupId === header.groupId)
    const { step, index, task, groupId } = header
    await journal.putGroup({ jobId, groupId, step, index, task, end: { type: 'complete' }, runs })
  }
}

const turns = [{ role: 'assistant', atMs: 0, tookMs: 700 }] as const

test('an evaluation is one step, with the turns of its trajectories as model and tools', async () => {
  const journal = openMemoryJournal()
  await keep(journal, [makeRun(0, 0, { from: 0, timings: { agent: 1_000 }, turns })])
  const explained = await explainJob(journal, makeJob({ [PLANNED_GROUPS]: 1 }))
  assert.is(explained.isOver, true)
  const step = pickStep(explained, undefined)
  assert.equal([step.name, step.kind, step.isOver, step.wallMs], ['1', 'rollouts', true, 1_000])
  assert.equal(
    step.parts.map(({ part, pathMs }) => [part, pathMs]),
    [
      ['model', 700],
      ['agent', 300],
    ],
  )
  const text = renderExplanation(explained, step)
  assert.match(text, 'step 1: 1.00 s, 1 rollouts in 1 groups')
  assert.match(text, /model +│ +700 ms +│ +70\.0 %/)
  assert.not.match(text, 'not over')
})

test('an evaluation begins with its job, so that what starts the engine is in its time', async () => {
  const journal = openMemoryJournal()
  await keep(journal, [makeRun(0, 0, { from: 800, timings: { agent: 200 } })])
  const [step] = (await explainJob(journal, makeJob())).steps
  assert.equal([step?.path[0]?.part, step?.path[0]?.to, step?.wallMs], ['beginning', 800, 1_000])
})

test('of a job that is not over, what has ended so far is explained, and told to be no more than that', async () => {
  const journal = openMemoryJournal()
  await keep(journal, [makeRun(0, 0, { from: 0, timings: { agent: 1_000 } })])
  await keep(journal, [makeRun(1, 0, { from: 0, timings: { agent: 1_500 } })], { ends: false })
  const explained = await explainJob(journal, makeJob({ [PLANNED_GROUPS]: 2 }))
  const step = pickStep(explained, undefined)
  assert.equal([explained.isOver, step.isOver, step.wallMs], [false, false, 1_500])
  const text = renderExplanation(explained, step)
  assert.match(text, 'not over: interrupted, or still running')
  assert.match(text, 'step 1: 1.50 s so far')
})

test('steps of a training have its calls, its optimiser step and its own start; evaluations have their names', async () => {
  const journal = openMemoryJournal()
  const runs = [0, 1].map(index => makeRun(index, 0, { from: 100, timings: { agent: 1_000 + index * 500 } }))
  await keep(journal, runs)
  await keep(journal, [makeRun(7, 0, { from: 9_000, timings: { agent: 9_000 }, step: evaluationStep(1, 1, 2) })])
  const unfinished = makeRun(8, 0, { from: 4_000, timings: { agent: 10 }, step: 1 })
  await keep(journal, [unfinished])
  await journal.putRecord(jobId, callKey(0, 0), makeCall(0, [0], 1_110, 1_400))
  await journal.putRecord(jobId, callKey(0, 1), makeCall(1, [1], 1_610, 2_000))
  await journal.putRecord(jobId, optimKey(0), makeOptim(2_000, 2_200))
  await journal.putRecord(jobId, recordKey(0), stepRecord(0, { startedAt: BEGAN, wallMs: 2_300 }))
  await journal.putRecord(jobId, evaluationKey(1, 'unseen'), evaluationRecord(1, 'unseen', 1, 1))
  const settings = {
    shape: { order: 'planned' },
    evaluation: {
      splits: [
        ['held-out', []],
        ['unseen', []],
      ],
    },
    [FINAL_RECORDS]: [recordKey(1)],
  }
  const explained = await explainJob(journal, makeJob(settings))
  assert.equal(
    explained.steps.map(({ name, label, kind, isOver }) => [name, label, kind, isOver]),
    [
      ['1', 'step 1', 'training', true],
      ['2', 'step 2', 'training', false],
      ['unseen@1', 'unseen after 1 step', 'evaluation', true],
    ],
  )
  const step = pickStep(explained, undefined)
  assert.is(step.name, '1', 'an evaluation is not picked, however long it was')
  assert.equal(step.overlap, { rolloutsAloneMs: 1_210, bothMs: 290, trainingAloneMs: 590, neitherMs: 210 })
  assert.equal(
    step.trainerWaits.map(({ call, waitedMs, last }) => [call, waitedMs, last?.slug]),
    [
      [0, 1_110, 'sum-0'],
      [1, 210, 'sum-1'],
    ],
  )
  const text = renderExplanation(explained, step)
  assert.match(text, /2\.30 s = .*|= 2\.30 s/)
  assert.match(text, '1.11 s before call 0, whose last group was sum-0 with member 0 (run-0-0)')
  assert.match(text, /step 2 \(not over\)/)
  assert.is(pickStep(explained, 'unseen@1').wallMs, 9_000)
  const json = JSON.parse(toJson(explained, step))
  assert.equal([json.steps.length, json.step.path.at(-1).part, json.step.path.at(-1).toMs], [3, 'closing', 2_300])
})

test('calls whose time nobody knows are left out, and told', async () => {
  const journal = openMemoryJournal()
  await keep(journal, [makeRun(0, 0, { from: 0, timings: { agent: 1_000 } })])
  const { end, ...call } = makeCall(0, [0], 1_000, 1_500)
  if (end.type !== 'over') throw new Error('a call that is over')
  const { startedAt: _, ...adopted } = end
  await journal.putRecord(jobId, callKey(0, 0), { ...call, end: adopted })
  const explained = await explainJob(journal, makeJob())
  const step = pickStep(explained, '1')
  assert.equal([step.callsWithoutTime, step.timeline.calls.length], [1, 0])
  assert.match(renderExplanation(explained, step), 'The times of 1 training calls are not in this journal')
})

test('a job of which nothing has ended, and a step that is not there, say what to do', async () => {
  const journal = openMemoryJournal()
  await assertRejects(explainJob(journal, makeJob()), 'nothing-to-explain')
  await keep(journal, [makeRun(0, 0, { from: 0, timings: { agent: 1 } })])
  const explained = await explainJob(journal, makeJob())
  assert.throws(() => pickStep(explained, '4'), /job-1 has no step "4"\. Say one of: 1\./)
})

test.run()

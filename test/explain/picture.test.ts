import * as assert from 'uvu/assert'
import { explainJob, pickStep } from '../../src/explain/index.ts'
import { drawStep } from '../../src/explain/picture.ts'
import { openMemoryJournal } from '../../src/journal/memory-journal.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { callKey } from '../../src/training/loop/marks.ts'
import { suite } from '../support/suite.ts'
import { BEGAN, jobId, makeCall, makeRun } from './scene.ts'

const test = suite('explain: the picture')

async function draw(groups: number, members: number, turns = 1): Promise<string> {
  const journal = openMemoryJournal()
  for (let index = 0; index < groups; index += 1)
    for (let member = 0; member < members; member += 1) {
      const agent = 1_000 + 10 * index + member
      const { header } = makeRun(index, member, { from: 0, lease: 'cold', timings: { provisioning: 300, agent } })
      const told = Array.from({ length: turns }, (_, turn) => ({
        role: 'assistant' as const,
        text: '',
        atMs: (turn * agent) / turns,
        tookMs: agent / turns,
      }))
      await journal.putRun(header, packTrajectory({ prompt: '', turns: told, answer: '', grade: null }))
    }
  await journal.putRecord(jobId, callKey(0, 0), makeCall(0, [0, 1], 1_500, 2_000))
  const explained = await explainJob(journal, { jobId, name: 'sums & more', startedAt: BEGAN, seed: 1, settings: {} })
  return drawStep(explained, pickStep(explained, undefined))
}

const count = (svg: string, colour: string) => svg.split(`fill="${colour}"`).length - 1

test('each stretch of each rollout is drawn in the colour of its part, each call of the trainer below, with a legend', async () => {
  const svg = await draw(4, 3)
  assert.match(svg, '<title>sums &amp; more, step 1: where its 2.00 s went</title>')
  // One more of each stands in the legend.
  assert.equal([count(svg, '#d55e00'), count(svg, '#0072b2'), count(svg, '#4a5568')], [13, 13, 2])
  for (const text of ['sum-3', 'trainer', 'sandbox', 'model', 'training', 'seconds'])
    assert.match(svg, `>${text}</text>`)
  assert.not.match(svg, '>grading</text>')
})

test('the same step gives the same bytes', async () => {
  assert.is(await draw(3, 2), await draw(3, 2))
})

test('thousands of stretches are drawn whole, and of a very wide step the groups that ended last', async () => {
  assert.is(count(await draw(16, 8, 40), '#0072b2'), 16 * 8 * 40 + 1)
  const wide = await draw(300, 2)
  assert.match(wide, 'the 400 of 600 rollouts that ended last')
  assert.is(count(wide, '#d55e00'), 401)
})

test.run()

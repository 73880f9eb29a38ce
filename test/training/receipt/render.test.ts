import * as assert from 'uvu/assert'
import { makeReceipt } from '../../../src/training/receipt/receipt.ts'
import { renderEvaluation, renderStep, renderTraining } from '../../../src/training/receipt/render.ts'
import { suite } from '../../support/suite.ts'
import { evaluationRecord, HEAD, stepRecord } from './records.ts'

const test = suite('training lines')

test('a step is one line', () => {
  const record = stepRecord(2, { groups: { ...stepRecord(2).groups, dropped: {} } })
  assert.is(
    renderStep(record, 10),
    'step 3/10  57/128 solved 44.5 %  spread 0.43  loss -4792.1  8 chunks  rollouts 18.25 s  training 9.10 s  policy 3',
  )
})

test('a step that was skipped says why, and one with losses says what was lost', () => {
  const line = renderStep(
    stepRecord(2, {
      errored: 3,
      loss: null,
      optimStep: null,
      end: { type: 'skipped', reason: 'no-spread' },
      groups: { planned: 16, trained: 0, withoutSpread: 14, added: 2, dropped: { short: 2 } },
    }),
    10,
  )
  assert.match(line, 'skipped: no group’s rewards differ')
  for (const part of ['3 failed', '2 groups added', '2 dropped (short)', 'policy v2']) assert.match(line, part)
  assert.not.match(line, 'loss')
})

test('an evaluation has its split, its place and its interval', () => {
  assert.is(
    renderEvaluation(evaluationRecord(0, 'held-out', 184)),
    'held-out before training: 184/512 solved 35.9 % (31.9-40.2)  31.20 s',
  )
  assert.match(renderEvaluation(evaluationRecord(1, 'unseen', 10, 20)), 'unseen after 1 step: 10/20 solved 50.0 %')
})

test('the closing table stands beside the published run where the tasks are the same, and alone where not', () => {
  const records = {
    steps: [stepRecord(0), stepRecord(1)],
    evaluations: [evaluationRecord(0, 'held-out', 184), evaluationRecord(2, 'held-out', 471)],
  }
  const text = renderTraining(makeReceipt(HEAD, records))
  assert.match(text, 'Qwen3.5-4B')
  assert.match(text, '36.7 %')
  assert.match(text, 'held-out: 35.9 % (31.9-40.2) → 92.0 % (89.3-94.0) in 2 steps; published: 35.9 % → 81.2 %')
  assert.match(text, '2 steps in 54.80 s, evaluations 1 min 02 s')
  for (const line of text.split('\n')) assert.ok(line.length <= 120, line)
  const other = renderTraining(makeReceipt({ ...HEAD, name: 'arith' }, records))
  assert.not.match(other, /Qwen|published/)
})

test.run()

import * as assert from 'uvu/assert'
import { toGroupId, toJobId } from '../../../src/ids.ts'
import type { SpanData } from '../../../src/telemetry/traces/open-spans.ts'
import { makeTrainingSpans } from '../../../src/telemetry/traces/training-spans.ts'
import { evaluationStep } from '../../../src/training/loop/schedule.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { stepOf } from '../metrics/scene.ts'

const test = suite('the spans of a training')
const START = 1_700_000_000_000

function makeScene() {
  const drawn: SpanData[] = []
  const clock = new VirtualClock(START)
  const spans = { add: (span: SpanData) => void drawn.push(span), dropped: 0, close: async () => {} }
  return { drawn, clock, training: makeTrainingSpans(toJobId('job-1'), spans, clock, undefined) }
}

const call = {
  type: 'chunk-trained',
  step: 0,
  call: 0,
  consumed: [toGroupId('g-1')],
  dropped: [],
  datums: 16,
  loss: -2,
  startedAt: START + 100,
  tookMs: 70,
  error: null,
} as const

test('a step is a trace: its calls and its optimiser step are spans of it', () => {
  const { drawn, training } = makeScene()
  training.receive({ type: 'step-began', step: 0, groups: 1, runs: 8 })
  training.receive(call)
  training.receive({
    ...call,
    call: 1,
    startedAt: START + 200,
    loss: Number.NaN,
    error: { tag: 'loss-not-finite', message: 'NaN' },
  })
  const record = stepOf({ startedAt: START, wallMs: 400 })
  training.receive({ type: 'step-ended', record, optimCall: { startedAt: START + 300, tookMs: 50 } })
  const [first, second, optimiser, step] = drawn
  assert.equal(
    drawn.map(({ name, startMs, endMs }) => [name, startMs - START, endMs - START]),
    [
      ['train chunk', 100, 170],
      ['train chunk', 200, 270],
      ['optimiser step', 300, 350],
      ['training step', 0, 400],
    ],
  )
  for (const span of [first, second, optimiser])
    assert.equal([span?.traceId, span?.parentId], [step?.traceId, step?.spanId])
  assert.is(new Set(drawn.map(({ spanId }) => spanId)).size, 4)
  assert.equal([step?.parentId, step?.error], [undefined, undefined])
  assert.is(first?.attributes?.['troupe.training.loss'], -2)
  assert.equal(second?.error, { type: 'loss-not-finite', message: 'NaN' })
  assert.not.ok('troupe.training.loss' in (second?.attributes ?? {}), 'no number, so none')
  training.end()
  assert.is(drawn.length, 4)
})

test('rollouts find the step that is under way; one that does not end says so', async () => {
  const { drawn, clock, training } = makeScene()
  assert.is(training.contextOf({ step: 0, startedAt: START }), undefined)
  training.receive({ type: 'step-began', step: 0, groups: 1, runs: 8 })
  await clock.advance(1_000)
  training.receive({ type: 'step-began', step: 1, groups: 1, runs: 8 })
  assert.is.not(
    training.contextOf({ step: 0, startedAt: START })?.traceId,
    training.contextOf({ step: 1, startedAt: START })?.traceId,
  )
  const context = training.contextOf({ step: 0, startedAt: START })
  training.receive({ type: 'step-ended', record: stepOf({ startedAt: START, wallMs: 400 }) })
  assert.is(training.contextOf({ step: 0, startedAt: START }), undefined)
  assert.equal([drawn[0]?.traceId, drawn[0]?.spanId], [context?.traceId, context?.spanId])
  training.receive({ type: 'stopped' })
  await clock.advance(500)
  training.end()
  assert.equal(
    drawn.map(({ name, startMs, endMs, error }) => [name, startMs - START, endMs - START, error?.type]),
    [
      ['training step', 0, 400, undefined],
      ['training step', 1_000, 1_500, 'step-not-ended'],
    ],
  )
})

test('an evaluation is a trace, to which its rollouts are linked before it has ended', async () => {
  const { drawn, clock, training } = makeScene()
  const [ended, cut] = [evaluationStep(0, 1, 2), evaluationStep(5, 0, 2)]
  const context = training.contextOf({ step: ended, startedAt: START + 20 })
  const record = {
    ...{ afterSteps: 0, split: 'unseen', runs: 8, solved: 2, passRate: 0.25, errored: 1, wallMs: 300 },
    versions: {},
  }
  training.receive({ type: 'evaluated', record, step: ended, startedAt: START + 10 })
  training.contextOf({ step: cut, startedAt: START + 500 })
  training.contextOf({ step: cut, startedAt: START + 400 })
  await clock.advance(600)
  training.end()
  training.end()
  assert.equal(
    drawn.map(({ name, startMs, endMs, error }) => [name, startMs - START, endMs - START, error?.type]),
    [
      ['evaluation', 10, 310, undefined],
      ['evaluation', 400, 600, 'step-not-ended'],
    ],
  )
  const [first, second] = drawn
  assert.equal([context?.traceId, context?.spanId], [first?.traceId, first?.spanId])
  assert.is.not(first?.traceId, second?.traceId)
  assert.equal(first?.attributes, {
    'troupe.step': ended,
    'troupe.evaluation.split': 'unseen',
    'troupe.evaluation.after_steps': 0,
    'troupe.evaluation.runs': 8,
    'troupe.evaluation.pass_rate': 0.25,
    'troupe.evaluation.errored': 1,
  })
})

test.run()

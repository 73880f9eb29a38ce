import * as assert from 'uvu/assert'
import { type TrainPlan, watchTraining } from '../../../src/cli/progress/train-view.ts'
import { toLine } from '../../../src/cli/progress/view.ts'
import { publish } from '../../../src/telemetry/channels.ts'
import type { TrainingEvent } from '../../../src/training/loop/events.ts'
import { evaluationStep } from '../../../src/training/loop/schedule.ts'
import type { EvaluationRecord } from '../../../src/training/records.ts'
import { jobId, makeRun, makeSnapshot } from '../../report/scene.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { stepOf } from '../../telemetry/metrics/scene.ts'

const test = suite('progress of a training')

const PLAN: TrainPlan = { steps: 3, splits: ['held-out'], every: 0 }

function makeScene(plan = PLAN) {
  const clock = new VirtualClock()
  const runs: ReturnType<typeof makeRun>[] = []
  let planned = 0
  const job = { jobId, snapshot: () => ({ ...makeSnapshot(runs, 0), plannedRuns: planned }) }
  const watch = watchTraining(job, plan, clock)
  return {
    clock,
    watch,
    line: () => toLine(watch.view()),
    tell: (event: TrainingEvent) => publish('trainingEvent', { jobId, event }),
    plan(more: number) {
      planned += more
    },
    async end(count: number, seconds: number, reward = 1) {
      await clock.advance(seconds * 1_000)
      for (let each = 0; each < count; each += 1) {
        const run = makeRun(runs.length, 1, { reward })
        runs.push(run)
        publish('run', run)
      }
    },
  }
}

const evaluated = (afterSteps: number, passRate: number, wallMs = 10_000): TrainingEvent => {
  const record: EvaluationRecord = {
    ...{ afterSteps, split: 'held-out', runs: 4, solved: 4 * passRate, passRate, errored: 0, wallMs, versions: {} },
  }
  return { type: 'evaluated', record, step: evaluationStep(afterSteps, 0, 1), startedAt: 0 }
}
const chunk = (step: number, call: number, loss: number): TrainingEvent => ({
  ...{
    type: 'chunk-trained',
    step,
    call,
    consumed: [],
    dropped: [],
    datums: 1,
    loss,
    startedAt: 0,
    tookMs: 1,
    error: null,
  },
})

test('it tells evaluations, rollouts and training apart, with chunks, loss and the held-out rate', async () => {
  const scene = makeScene()
  assert.match(scene.line(), /^held-out before training: 0\/0 runs/)
  scene.plan(4)
  await scene.end(2, 5)
  assert.is(scene.line(), 'held-out before training: 2/4 runs, 0.4/s, 100.0 % passed, 0 in flight')
  await scene.end(2, 5, 0)
  scene.tell(evaluated(0, 0.5))
  assert.match(scene.line(), /^step 1\/3 rollouts: 0\/0 runs, 0\.0\/s, held-out 50\.0 %/)
  scene.tell({ type: 'step-began', step: 0, groups: 2, runs: 8 })
  scene.plan(8)
  await scene.end(4, 10)
  scene.tell(chunk(0, 0, 12.34))
  assert.is(
    scene.line(),
    'step 1/3 rollouts: 4/8 runs, 0.4/s, 100.0 % passed, 1 chunk trained, loss 12.3, held-out 50.0 %, 0 in flight',
  )
  await scene.end(4, 10)
  scene.tell(chunk(0, 1, 10))
  assert.is(
    scene.line(),
    'step 1/3 training: 8/8 runs, 100.0 % passed, 2 chunks trained, loss 10.0, held-out 50.0 %, 0 in flight',
    'a rate of runs means nothing while none goes on, and before a step is over nobody knows how long one takes',
  )
  scene.watch.stop()
})

test('the time left is of finished steps and evaluations, and runs down while one is under way', async () => {
  const scene = makeScene()
  const leftMs = () => scene.watch.view().leftMs
  await scene.clock.advance(10_000)
  scene.tell(evaluated(0, 0.5))
  scene.tell({ type: 'step-began', step: 0, groups: 2, runs: 8 })
  await scene.clock.advance(30_000)
  assert.is(leftMs(), null)
  scene.tell({ type: 'step-ended', record: stepOf({ step: 0, loss: 3 }) })
  assert.is(leftMs(), 2 * 30_000 + 10_000)
  scene.tell({ type: 'step-began', step: 1, groups: 2, runs: 8 })
  await scene.clock.advance(20_000)
  assert.is(leftMs(), 50_000)
  await scene.clock.advance(20_000)
  assert.is(leftMs(), 40_000, 'a step that is late takes nothing from those behind it')
  scene.tell({ type: 'step-ended', record: stepOf({ step: 1 }) })
  assert.is(leftMs(), 35_000 + 10_000, 'the mean of 30 s and 40 s, and the evaluation')
  scene.tell({ type: 'step-began', step: 2, groups: 2, runs: 8 })
  scene.tell({ type: 'step-ended', record: stepOf({ step: 2 }) })
  assert.match(scene.line(), /^held-out after step 3\/3: /)
  assert.is(leftMs(), 10_000)
  scene.tell(evaluated(3, 1))
  assert.match(scene.line(), /^ending: .*held-out 50\.0 % → 100\.0 %/)
  assert.is(leftMs(), null)
  scene.watch.stop()
})

test('a training that goes on counts from where it was, and knows how long its steps took', async () => {
  const scene = makeScene()
  const { record } = evaluated(0, 0.25, 8_000) as Extract<TrainingEvent, { type: 'evaluated' }>
  scene.tell({ type: 'resumed', history: { steps: [stepOf({ step: 0, wallMs: 20_000 })], evaluations: [record] } })
  assert.match(scene.line(), /^step 2\/3 rollouts: /)
  assert.is(scene.watch.view().leftMs, 2 * 20_000 + 8_000)
  scene.watch.stop()
})

test('with a policy lag a step that ends late leaves the next one where it is', async () => {
  const scene = makeScene({ ...PLAN, splits: [] })
  scene.tell({ type: 'step-began', step: 0, groups: 2, runs: 8 })
  scene.plan(8)
  await scene.end(8, 10)
  scene.tell({ type: 'step-began', step: 1, groups: 2, runs: 8 })
  scene.plan(8)
  await scene.end(2, 10)
  scene.tell({ type: 'step-ended', record: stepOf({ step: 0 }) })
  assert.match(scene.line(), /^step 2\/3 rollouts: 2\/8 runs/)
  scene.watch.stop()
})

test.run()

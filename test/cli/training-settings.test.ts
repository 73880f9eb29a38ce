import * as assert from 'uvu/assert'
import type { TrainArguments } from '../../src/cli/commands/train.ts'
import { toTrainingSettings } from '../../src/cli/training-settings.ts'
import { hasTag } from '../../src/errors.ts'
import { QUICK_SHAPE, TRAINING_DEFAULTS } from '../../src/training/defaults.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli training settings')

/** What commander hands over when nothing is said. */
const PLAIN: TrainArguments = {
  chunkBytes: 8 * 1024 * 1024,
  maxConcurrent: 128,
  pool: { strategy: 'cold', size: 0 },
  trainer: 'embedded',
  policies: '.troupe/policies',
  eval: true,
  maxPolicyLag: 0,
  dynamicSampling: 0,
  order: 'planned',
  retries: 2,
  out: '.',
  journal: '.troupe/journal',
}

test('unless told otherwise a training has the published shape and its trainer’s own settings', () => {
  const embedded = toTrainingSettings(PLAIN)
  assert.equal(
    [embedded.steps, embedded.group, embedded.chunk, embedded.evaluation],
    [10, 8, 16, { group: 64, every: null }],
  )
  assert.is(embedded.learningRate, TRAINING_DEFAULTS.embedded.learningRate)
  const hud = toTrainingSettings({ ...PLAIN, trainer: 'hud', model: 'm' })
  assert.equal([hud.learningRate, hud.loss], [1e-5, 'importance_sampling'])
})

test('--quick is smaller, and what is said besides wins', () => {
  assert.is(toTrainingSettings({ ...PLAIN, quick: true }).steps, QUICK_SHAPE.steps)
  const told = toTrainingSettings({ ...PLAIN, quick: true, steps: 7, group: 6 })
  assert.equal([told.steps, told.group, told.chunk % 6], [7, 6, 0])
})

test('a chunk holds whole groups', () => {
  assert.is(toTrainingSettings({ ...PLAIN, group: 32 }).chunk, 32)
  refuse('chunk-not-whole', { group: 8, chunk: 20 })
  refuse('chunk-not-whole', { group: 8, chunk: 4 })
})

test('the settings of one loss are not those of another', () => {
  assert.equal(toTrainingSettings({ ...PLAIN, loss: 'dro' }).lossConfig, {})
  assert.equal(toTrainingSettings({ ...PLAIN, lossConfig: { beta: 0.1 } }).lossConfig, { beta: 0.1 })
})

test('what contradicts itself is refused', () => {
  refuse('missing-option', { trainer: 'hud' })
  refuse('conflicting-options', { trainer: 'hud', model: 'm', base: 'f' })
  refuse('conflicting-options', { eval: false, evalEvery: 2 })
  refuse('conflicting-options', { eval: false, heldOut: ['1'] })
})

function refuse(tag: string, changes: Partial<TrainArguments>): void {
  assert.throws(
    () => toTrainingSettings({ ...PLAIN, ...changes }),
    (error: unknown) => hasTag(error, tag),
  )
}

test.run()

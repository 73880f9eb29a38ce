import * as assert from 'uvu/assert'
import { hasTag } from '../../../src/errors.ts'
import { suite } from '../../support/suite.ts'
import { World } from './fake-job.ts'
import { FakeService } from './fake-service.ts'
import { makeTraining, rejection } from './scene.ts'

const test = suite('training on what survived')

/** Of the four groups of four, those in `wounded` have only their first two members graded, the others all. */
function woundedWorld(...wounded: readonly number[]): World {
  const world = new World()
  world.reward = ({ index }, { member }) => (wounded.includes(index) && member > 1 ? null : member % 2)
  return world
}

test('a step of which fewer rollouts were graded than asked for stops the training before its optimiser step', async () => {
  const world = new World()
  // Every group still has two graded members that differ, so that each could be trained on.
  world.reward = (_, { member }) => (member > 1 ? null : member % 2)
  const service = new FakeService()
  const { training } = makeTraining({ world, service, group: 5, chunk: { trajectories: 5 }, minGradedShare: 0.5 })
  const error = await rejection(training.finish())
  assert.ok(hasTag(error, 'too-few-graded'), String(error))
  assert.equal(error.data.details, { step: 0, runs: 20, graded: 8, least: 0.5 })
  assert.match(error.message, /8 of 20 rollouts of training step 0/)
  assert.equal([service.applied, training.history.steps], [[], []])
})

test('the same job goes on once it may, trains on nothing twice, and takes its step', async () => {
  const world = woundedWorld(0, 1, 2, 3)
  const service = new FakeService()
  const first = makeTraining({ world, service, group: 4, steps: 1, minGradedShare: 0.9 })
  assert.ok(hasTag(await rejection(first.training.finish()), 'too-few-graded'))
  const calls = service.calls.length
  const job = world.job({ resumed: true })
  const second = makeTraining({ world, service, job, group: 4, steps: 1, minGradedShare: 0 })
  const { steps } = await second.training.finish()
  assert.equal([steps.length, steps[0]?.groups.trained, service.applied.length], [1, 4, 1])
  assert.is(service.calls.length, calls + 1, 'only the optimiser step was missing')
})

test('half of them is enough unless something else is said, and a share is a share', async () => {
  const { training } = makeTraining({ world: woundedWorld(0, 1, 2, 3), group: 4, steps: 1 })
  assert.is((await training.finish()).steps[0]?.end.type, 'trained')
  for (const minGradedShare of [-0.1, 1.1, Number.NaN])
    assert.throws(
      () => makeTraining({ minGradedShare }),
      (error: unknown) => hasTag(error, 'bad-train-option') && error.message.includes('minGradedShare'),
    )
})

test.run()

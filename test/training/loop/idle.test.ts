import * as assert from 'uvu/assert'
import { hasTag } from '../../../src/errors.ts'
import { suite } from '../../support/suite.ts'
import { World } from './fake-job.ts'
import { makeTraining, rejection } from './scene.ts'

const test = suite('a training that gets nothing to train on')

/** Its server never takes new weights, so that from the third step on all is stale; the first `agreeing` groups of a step agree. */
function staleWorld(agreeing: number): World {
  const world = new World()
  world.version = () => 'ckpt-1'
  world.reward = ({ index }, { member }) => (index < agreeing ? 1 : member % 2)
  return world
}

test('groups that are all dropped as stale stop it, although their rollouts go well', async () => {
  const { training } = makeTraining({ world: staleWorld(0), steps: 9 })
  const error = await rejection(training.finish())
  assert.ok(hasTag(error, 'nothing-trained'), String(error))
  assert.equal(
    training.history.steps.map(({ end, groups }) => [end.type, groups.dropped]),
    [
      ['trained', {}],
      ['trained', {}],
      ['skipped', { stale: 4 }],
      ['skipped', { stale: 4 }],
    ],
  )
})

test('a few groups that agree are no excuse for the others', async () => {
  const { training } = makeTraining({ world: staleWorld(1), steps: 9 })
  assert.ok(hasTag(await rejection(training.finish()), 'nothing-trained'))
  assert.is(training.history.steps.length, 4)
})

test('where most agree it goes on: that is no fault of it', async () => {
  const { training } = makeTraining({ world: staleWorld(2), steps: 6 })
  const { steps } = await training.finish()
  assert.equal(
    steps.slice(2).map(({ end }) => end),
    Array(4).fill({ type: 'skipped', reason: 'no-spread' }),
  )
})

test.run()

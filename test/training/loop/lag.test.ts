import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { settle } from '../../support/virtual-clock.ts'
import { tasksOf, World } from './fake-job.ts'
import { FakeService } from './fake-service.ts'
import { gate, makeTraining } from './scene.ts'

const test = suite('train with a policy lag')

/** A service whose optimiser steps wait, each for its own gate. */
function makeHeldService() {
  const service = new FakeService()
  const gates = Array.from({ length: 6 }, gate)
  service.around = async (name, when) => {
    if (name === 'optim-step' && when === 'before') await gates[service.applied.length]?.opened
  }
  return { service, gates }
}

const begunSteps = (world: World) => [...new Set(world.begun.map(({ step }) => step))]

test('rollouts run ahead of the training by as many optimiser steps as the lag allows, and no more', async () => {
  for (const maxPolicyLag of [0, 1, 2]) {
    const { service, gates } = makeHeldService()
    const { world, training } = makeTraining({ service, steps: 5, maxPolicyLag })
    const finished = training.finish()
    for (const [step, held] of gates.entries()) {
      await settle(60)
      const furthest = Math.min(4, step + maxPolicyLag)
      assert.equal(begunSteps(world), [0, 1, 2, 3, 4].slice(0, furthest + 1), `lag ${maxPolicyLag}, step ${step}`)
      held.open()
    }
    const { steps } = await finished
    assert.equal(
      steps.map(({ step, optimStep }) => [step, optimStep]),
      [0, 1, 2, 3, 4].map(step => [step, step + 1]),
    )
    assert.equal(
      service.applied.map(groups => groups.length),
      [4, 4, 4, 4, 4],
      'gradients of two steps are never mixed',
    )
  }
})

test('an evaluation measures the weights it says, whatever the lag', async () => {
  const { service, gates } = makeHeldService()
  const evaluation = { splits: { all: tasksOf(1, 'e') }, every: 1 }
  const { world, training } = makeTraining({ service, steps: 2, maxPolicyLag: 1, evaluation })
  const finished = training.finish()
  await settle(60)
  assert.equal(
    begunSteps(world).filter(step => step < 100),
    [0],
  )
  for (const held of gates) held.open()
  const { evaluations } = await finished
  assert.equal(
    evaluations.map(({ afterSteps }) => afterSteps),
    [0, 1, 2],
  )
})

test('groups that older weights put out than the lag allows are dropped as stale', async () => {
  for (const maxPolicyLag of [0, 1]) {
    const world = new World()
    // A server that went back to old weights, or never took the new ones.
    world.version = () => 'ckpt-1'
    const { training } = makeTraining({ world, steps: 3, maxPolicyLag })
    const { steps } = await training.finish()
    assert.equal(steps[2]?.versions, { 'ckpt-1': 8 })
    assert.equal(steps[2]?.groups.dropped, maxPolicyLag === 0 ? { stale: 4 } : {})
    assert.is(steps[2]?.end.type, maxPolicyLag === 0 ? 'skipped' : 'trained')
  }
})

test.run()

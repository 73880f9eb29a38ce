import * as assert from 'uvu/assert'
import { hasTag, TroupeError } from '../../../src/errors.ts'
import { suite } from '../../support/suite.ts'
import { settle } from '../../support/virtual-clock.ts'
import { World } from './fake-job.ts'
import { FakeService } from './fake-service.ts'
import { collectEvents, gate, makeTraining, rejection, timeless } from './scene.ts'

const test = suite('train, when something fails or ends early')

test('what a failed call says of its groups holds: accepted ones stay, the others are dropped and never sent again', async () => {
  const service = new FakeService()
  let calls = 0
  service.refusal = groups => {
    calls += 1
    const [accepted, rejected] = groups
    if (calls === 1)
      return new TroupeError({
        tag: 'too-large',
        message: '413',
        details: { accepted: [accepted], rejected: [rejected] },
      })
    return calls === 2 ? new TroupeError({ tag: 'connection-lost', message: 'gone' }) : undefined
  }
  const { training } = makeTraining({ service, steps: 1 })
  const events = await collectEvents(training)
  const [record] = training.history.steps
  assert.equal(record?.groups, {
    planned: 4,
    trained: 1,
    withoutSpread: 0,
    added: 0,
    dropped: { 'delivery-unknown': 2, rejected: 1 },
  })
  assert.is(record?.chunks, 1)
  assert.is(service.calls.length, 3, 'nothing is sent twice')
  const errors = events.flatMap(event => (event.type === 'chunk-trained' ? [event.error?.tag] : []))
  assert.equal(errors, ['too-large', 'connection-lost'])
})

test('a training that can learn nothing says why and stops; steps of which nothing was accepted are recorded as skipped', async () => {
  const service = new FakeService()
  service.refusal = groups => new TroupeError({ tag: 'no-key', message: 'no key', details: { rejected: groups } })
  const { training } = makeTraining({ service, steps: 9 })
  const error = await rejection(training.finish())
  assert.ok(hasTag(error, 'nothing-trained'), String(error))
  assert.is(error.data.cause?.tag, 'no-key')
  assert.equal(
    training.history.steps.map(({ end }) => end),
    Array(2).fill({ type: 'skipped', reason: 'nothing-accepted' }),
  )
  const world = new World()
  world.reward = () => null
  const empty = makeTraining({ world })
  assert.ok(hasTag(await rejection(empty.training.finish()), 'nothing-trained'))
  assert.equal(empty.training.history.steps[0]?.end, { type: 'skipped', reason: 'no-groups' })
  assert.equal(empty.training.history.steps[0]?.groups.dropped, { 'no-member-graded': 4 })
})

test('a loss that is no number stops the training before the optimiser step', async () => {
  const service = new FakeService()
  service.loss = () => Number.NaN
  const { training } = makeTraining({ service })
  const error = await rejection(training.finish())
  assert.ok(hasTag(error, 'loss-not-finite'), String(error))
  assert.is(service.applied.length, 0)
})

test('a service that took a call and found its loss to be no number is never asked to step on it, by a later process either', async () => {
  const { world, service } = { world: new World(), service: new FakeService() }
  service.refusal = accepted =>
    new TroupeError({ tag: 'loss-not-finite', message: 'NaN', details: { accepted, rejected: [], unknown: [] } })
  const first = makeTraining({ world, service })
  assert.ok(hasTag(await rejection(first.training.finish()), 'loss-not-finite'))
  service.refusal = undefined
  const second = makeTraining({ world, service, job: world.job({ resumed: true }) })
  assert.ok(hasTag(await rejection(second.training.finish()), 'loss-not-finite'))
  assert.is(service.applied.length, 0)
})

test('a run whose log-probabilities are no numbers is left out, and does not spoil the call of its chunk', async () => {
  const world = new World()
  world.logprob = ({ index }, { member }) => (index === 0 && member === 1 ? Number.NaN : -1)
  const { service, training } = makeTraining({ world, steps: 1, group: 4, chunk: { trajectories: 8 } })
  const { steps } = await training.finish()
  assert.equal(steps[0]?.groups.dropped, {})
  const sizes = service.calls.flatMap(call => (call.type === 'forward-backward' ? [call.groupSize] : []))
  assert.equal([...sizes].sort(), [3, 4, 4])
  const two = new World()
  two.logprob = world.logprob
  const short = makeTraining({ world: two, steps: 1 })
  assert.equal((await short.training.finish()).steps[0]?.groups.dropped, { 'bad-tokens': 1 })
})

test('runs without tokens are an error, not a step that silently learns nothing', async () => {
  const world = new World()
  world.hasTokens = false
  const { training } = makeTraining({ world })
  assert.ok(hasTag(await rejection(training.finish()), 'no-tokens'))
})

test('an optimiser step whose answer is lost is adopted from the checkpoints, and one that did not happen is an error', async () => {
  const service = new FakeService()
  service.around = async (name, when) => {
    if (name === 'optim-step' && when === 'after' && service.applied.length === 1) throw new Error('socket hang up')
  }
  const { training } = makeTraining({ service })
  const events = await collectEvents(training)
  assert.equal(
    events.filter(event => event.type === 'adopted'),
    [{ type: 'adopted', step: 0, checkpointId: 'ckpt-1' }],
  )
  assert.equal(
    training.history.steps.map(({ optimStep }) => optimStep),
    [1, 2],
  )
  const refusing = new FakeService()
  refusing.around = async name => {
    if (name === 'optim-step') throw new Error('503')
  }
  const error = await rejection(makeTraining({ service: refusing }).training.finish())
  assert.ok(hasTag(error, 'optim-step-failed'), String(error))
})

test('the signal lets the call that is under way end and into the record; the next process goes on without sending it again', async () => {
  const { world, service } = { world: new World(), service: new FakeService() }
  const stop = new AbortController()
  const call = gate()
  service.around = async (name, when) => {
    if (name === 'forward-backward' && when === 'before') await call.opened
  }
  const first = makeTraining({ world, service, signal: stop.signal })
  const events = collectEvents(first.training)
  await settle(30)
  stop.abort()
  await settle(30)
  call.open()
  const seen = await events
  assert.equal(
    seen.map(({ type }) => type),
    ['step-began', 'chunk-trained', 'stopped'],
  )
  const job = world.job({ resumed: true })
  const second = makeTraining({ world, service, job })
  const history = await second.training.finish()
  const whole = makeTraining({ world: new World() })
  assert.equal(timeless(history), timeless(await whole.training.finish()))
  assert.is(service.calls.length, 6)
})

test('a job that another coordinator has taken over is trained on no further, also when all its rollouts are over', async () => {
  const lost = new AbortController()
  const call = gate()
  const service = new FakeService()
  service.around = async (name, when) => {
    // The last chunk of the step: only the optimiser step is left.
    if (name === 'forward-backward' && when === 'before' && service.calls.length === 1) await call.opened
  }
  const { training } = makeTraining({ service, job: { ...new World().job(), lost: lost.signal } })
  const failed = rejection(training.finish())
  await settle(60)
  assert.is(service.underWay, 1)
  const error = new TroupeError({ tag: 'job-taken-over', message: 'by another' })
  lost.abort(error)
  call.open()
  assert.is(await failed, error)
  assert.equal(
    service.calls.map(({ type }) => type),
    ['forward-backward', 'forward-backward'],
  )
})

test('leaving the loop over the events ends the training in order, and a job is trained once in a process', async () => {
  const world = new World()
  const job = world.job()
  const { service, training } = makeTraining({ world, job })
  for await (const event of training) if (event.type === 'chunk-trained') break
  assert.ok(service.calls.length < 3)
  assert.is(service.underWay, 0)
  assert.ok(hasTag(await rejection(collectEvents(training)), 'training-taken'))
  try {
    makeTraining({ world, job })
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'training-taken'), String(error))
  }
})

test('a head that somebody has moved since is an error, and not trained on', async () => {
  const { world, service, training } = makeTraining({ steps: 3 })
  for await (const event of training) if (event.type === 'step-ended' && event.record.step === 1) break
  service.setHead('ckpt-1')
  const again = makeTraining({ world, service, steps: 3, job: world.job({ resumed: true }) })
  const error = await rejection(again.training.finish())
  assert.ok(hasTag(error, 'policy-moved'), String(error))
  assert.is(service.applied.length, 2)
  const fresh = makeTraining({ world, steps: 3, job: world.job({ resumed: true }) })
  assert.ok(hasTag(await rejection(fresh.training.finish()), 'policy-moved'), 'nor one that has no checkpoints at all')
})

test('a version that is another than it was left at is noticed without a tree, too, and so is a trainer that began anew', async () => {
  for (const moved of ['ckpt-1', null]) {
    const service = new FakeService()
    const trainer = () => service.client({ tellsTree: false, tellsState: false })
    const { world, training } = makeTraining({ service, trainer: trainer(), steps: 3 })
    for await (const event of training) if (event.type === 'step-ended' && event.record.step === 1) break
    service.setHead(moved)
    const again = makeTraining({ world, service, trainer: trainer(), steps: 3, job: world.job({ resumed: true }) })
    const error = await rejection(again.training.finish())
    assert.ok(hasTag(error, 'policy-moved'), String(error))
    assert.is(service.applied.length, 2)
  }
})

test('a failure of the rollouts is what the training fails with', async () => {
  const world = new World()
  const job = world.job({
    rollOut: async ({ index, step }) => {
      if (step === 1 && index === 2) throw new TroupeError({ tag: 'dead-groups', message: 'nothing is graded' })
    },
  })
  const { training } = makeTraining({ world, job, maxPolicyLag: 1 })
  assert.ok(hasTag(await rejection(training.finish()), 'dead-groups'))
})

test.run()

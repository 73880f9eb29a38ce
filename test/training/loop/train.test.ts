import * as assert from 'uvu/assert'
import { hasTag } from '../../../src/errors.ts'
import { train } from '../../../src/training/loop/index.ts'
import { suite } from '../../support/suite.ts'
import { settle } from '../../support/virtual-clock.ts'
import { standingClock, tasksOf, World } from './fake-job.ts'
import { FakeService } from './fake-service.ts'
import { collectEvents, gate, makeTraining, timeless } from './scene.ts'

const test = suite('train')

test('each step trains on whole groups side by side, then takes one optimiser step', async () => {
  const { service, training } = makeTraining()
  const history = await training.finish()
  assert.equal(
    service.calls.map(call => (call.type === 'optim-step' ? 'step' : `${call.groups.length} of ${call.groupSize}`)),
    ['2 of 2', '2 of 2', 'step', '2 of 2', '2 of 2', 'step'],
  )
  for (const call of service.calls)
    if (call.type === 'forward-backward')
      assert.equal(
        call.runs,
        call.groups.flatMap(groupId => [0, 1].map(member => `${groupId.replace('group', 'run')}-${member}`)),
      )
  assert.is(service.mostUnderWay, 1)
  const [first] = history.steps
  assert.equal(timeless(history).steps[0], {
    step: 0,
    runs: 8,
    solved: 4,
    passRate: 0.5,
    errored: 0,
    groupSpread: 0.5,
    samples: 8,
    tokens: 16,
    rolloutMs: 0,
    loss: -4,
    datums: 8,
    chunks: 2,
    trainMs: 0,
    optimStep: 1,
    end: { type: 'trained', checkpointId: 'ckpt-1' },
    groups: { planned: 4, trained: 4, withoutSpread: 0, added: 0, dropped: {} },
    learningRate: 0.1,
    versions: {},
    wallMs: 0,
  })
  assert.is(first?.rolloutMs, 1_000, 'rollouts that overlap count once')
})

test('the same seed gives the same sequence of calls, whichever group ends first', async () => {
  const sequences = await Promise.all(
    [0, 1, 2].map(async turn => {
      const world = new World()
      world.reward = ({ index }, { member }) => (index === 1 ? 0 : member % 2)
      const { service, training } = makeTraining({
        world,
        dynamicSampling: { maxExtraGroups: 2 },
        job: world.job({
          rollOut: async ({ index }) => {
            for (let wait = 0; wait < ((index + 1) * (turn + 3)) % 5; wait += 1) await settle(1)
          },
        }),
      })
      return [service.calls, timeless(await training.finish())]
    }),
  )
  assert.equal(sequences[1], sequences[0])
  assert.equal(sequences[2], sequences[0])
  const other = makeTraining({ world: new World(8) })
  await other.training.finish()
  assert.not.equal(other.service.calls, sequences[0]?.[0])
})

test('chunks are trained on while other groups still roll out, and after all of them without overlap', async () => {
  for (const overlap of [true, false]) {
    const last = gate()
    const world = new World()
    const { service, training } = makeTraining({
      world,
      overlap,
      steps: 1,
      job: world.job({ rollOut: ({ index }) => (index === 3 ? last.opened : Promise.resolve()) }),
    })
    const finished = training.finish()
    await settle(30)
    assert.is(service.calls.length, overlap ? 1 : 0)
    last.open()
    await finished
    assert.is(service.calls.length, 3)
  }
})

test('groups whose rewards are all equal are not trained on, and a step of such groups alone is skipped', async () => {
  const world = new World()
  world.reward = ({ index, step }, { member }) => (step === 1 || index === 0 ? 1 : member % 2)
  const { service, training } = makeTraining({ world, steps: 3 })
  const { steps } = await training.finish()
  assert.equal(
    steps.map(({ end, groups, optimStep }) => [end.type, groups.trained, groups.withoutSpread, optimStep]),
    [
      ['trained', 3, 1, 1],
      ['skipped', 0, 4, null],
      ['trained', 3, 1, 2],
    ],
  )
  assert.equal(steps[1]?.end, { type: 'skipped', reason: 'no-spread' })
  assert.equal([steps[1]?.loss, steps[1]?.learningRate], [null, 0])
  assert.is(service.applied.length, 2)
})

test('an ungraded member is no reward of 0: its group goes by itself with its own size, or not at all', async () => {
  const reward: World['reward'] = ({ index }, { member }) => (index === 1 && member === 0 ? null : member % 2)
  for (const shortGroups of ['train', 'drop'] as const) {
    const world = new World()
    world.reward = reward
    const { service, training } = makeTraining({ world, steps: 1, group: 3, chunk: { trajectories: 6 }, shortGroups })
    const { steps } = await training.finish()
    const calls = service.calls.flatMap(call => (call.type === 'forward-backward' ? [call] : []))
    const short = calls.filter(call => call.groupSize === 2)
    if (shortGroups === 'train') {
      assert.equal(
        short.map(({ runs }) => runs.map(run => run.at(-1))),
        [['1', '2']],
      )
      assert.equal(steps[0]?.groups.dropped, {})
    } else {
      assert.equal(short, [])
      assert.equal(steps[0]?.groups.dropped, { short: 1 })
    }
    assert.ok(calls.every(call => call.groups.length === 1 || call.groupSize === 3))
    assert.equal([steps[0]?.errored, steps[0]?.runs], [1, 12])
  }
})

test('one attempt a task needs no spread, and the whole call is one group', async () => {
  const { service, training } = makeTraining({ steps: 1, group: 1, loss: { name: 'cross_entropy' } })
  const { steps } = await training.finish()
  assert.equal(
    service.calls.map(call => (call.type === 'forward-backward' ? [call.runs.length, call.groupSize] : 'step')),
    [[4, undefined], 'step'],
  )
  assert.is(steps[0]?.groups.trained, 4)
})

test('few trained groups take a part of the learning rate', async () => {
  const world = new World()
  world.reward = ({ index }, { member }) => (index > 0 ? 1 : member % 2)
  const rates = async (scaleByGroups: number | false | undefined) => {
    const own = new World()
    own.reward = world.reward
    const { service, training } = makeTraining({
      world: own,
      steps: 1,
      ...(scaleByGroups === undefined ? {} : { scaleByGroups }),
    })
    const { steps } = await training.finish()
    assert.ok(service.calls.some(call => call.type === 'optim-step' && call.learningRate === steps[0]?.learningRate))
    return steps[0]?.learningRate
  }
  assert.is(await rates(false), 0.1)
  assert.is(await rates(4), 0.025)
  const world2 = new World()
  world2.reward = world.reward
  const byDefault = train({
    job: world2.job(),
    taskset: tasksOf(4),
    agent: { kind: 'scripted', config: {} },
    trainer: new FakeService().client(),
    steps: 1,
    group: 2,
    learningRate: 0.1,
    clock: standingClock,
  })
  assert.is((await byDefault.finish()).steps[0]?.learningRate, 0.05, 'half of the planned groups take the whole rate')
})

test('dynamic sampling adds groups in place of those without spread, with ids of their own, and no more than allowed', async () => {
  const world = new World()
  world.reward = ({ index }, { member }) => (index === 0 || index === 2 || index === 4 ? 0 : member % 2)
  const { training } = makeTraining({ world, steps: 1, tasksPerStep: 3, dynamicSampling: { maxExtraGroups: 2 } })
  const { steps } = await training.finish()
  assert.equal(steps[0]?.groups, { planned: 3, trained: 2, withoutSpread: 3, added: 2, dropped: {} })
  assert.is(steps[0]?.runs, 10)
  const ids = world.begun.map(({ groupId }) => groupId)
  assert.is(new Set(ids).size, 5)
  const slugs = world.begun.map(({ task }) => task.slug)
  assert.is(new Set(slugs.slice(0, 4)).size, 4, 'the task that the step did not have comes first')
})

test('no task comes again before all have come', async () => {
  const { world, training } = makeTraining({ steps: 4, tasksPerStep: 2 })
  await training.finish()
  const slugs = world.begun.map(({ task }) => task.slug)
  for (const turn of [slugs.slice(0, 4), slugs.slice(4)]) assert.is(new Set(turn).size, 4)
})

test('evaluations train on nothing, and come before, between and after as asked', async () => {
  const { service, training } = makeTraining({
    steps: 4,
    evaluation: { splits: { 'held-out': tasksOf(2, 'h'), unseen: tasksOf(1, 'u') }, group: 3, every: 2 },
  })
  const events = await collectEvents(training)
  const order = events.flatMap(event =>
    event.type === 'evaluated'
      ? [`${event.record.split} ${event.record.afterSteps}`]
      : event.type === 'step-ended'
        ? [`step ${event.record.step}`]
        : [],
  )
  assert.equal(order, [
    ...['held-out 0', 'unseen 0', 'step 0', 'step 1', 'held-out 2', 'unseen 2'],
    ...['step 2', 'step 3', 'held-out 4', 'unseen 4'],
  ])
  const { evaluations } = training.history
  assert.equal([evaluations[0]?.runs, evaluations[0]?.solved, evaluations[0]?.passRate], [6, 2, 1 / 3])
  assert.is(service.applied.flat().length, 16)
})

test('every option that cannot work is named at once', () => {
  try {
    makeTraining({ steps: 0, learningRate: 0, maxPolicyLag: -1, adam: { beta1: 1 } })
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'bad-train-option'), String(error))
    for (const name of ['steps', 'learningRate', 'maxPolicyLag', 'beta1']) assert.match(error.message, name)
  }
  try {
    makeTraining({ group: 8, chunk: { trajectories: 4 } })
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'bad-chunk-limit'), String(error))
  }
})

test.run()

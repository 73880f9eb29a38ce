import * as assert from 'uvu/assert'
import type { TrainingHistory, TrainOptions } from '../../../src/training/loop/index.ts'
import { suite } from '../../support/suite.ts'
import { settle } from '../../support/virtual-clock.ts'
import { tasksOf, World } from './fake-job.ts'
import { FakeService } from './fake-service.ts'
import { collectEvents, makeTraining, timeless } from './scene.ts'

const test = suite('train, killed and resumed')

const SHAPE: Partial<TrainOptions> = {
  steps: 3,
  dynamicSampling: { maxExtraGroups: 1 },
  evaluation: { splits: { held: tasksOf(1, 'h') }, every: 2 },
}

/** A world in which some groups have no spread and some an ungraded member. */
function makeWorld(): World {
  const world = new World()
  world.reward = ({ index, step }, { member }) => {
    if (index === step) return 1
    return index === 3 && step === 1 && member === 0 ? null : member % 2
  }
  return world
}

/** A process that is gone at the n-th thing that it or the service does: from then on nothing it waits for ever comes. */
function makeProcess(killAt: number) {
  let ticks = 0
  const names: string[] = []
  const around = (name: string, when: 'before' | 'after'): Promise<void> => {
    names.push(`${when} ${name}`)
    ticks += 1
    return ticks > killAt ? new Promise(() => {}) : Promise.resolve()
  }
  return { around, names, isDead: () => ticks > killAt }
}

interface Outcome {
  readonly world: World
  readonly service: FakeService
  readonly history: TrainingHistory
  readonly types: readonly string[]
  /** What it was doing when it was killed. */
  readonly killedAt: string
}

async function runKilled(
  killAt: number,
  tellsState: boolean,
  more: Partial<TrainOptions> = {},
  tellsTree = true,
): Promise<Outcome> {
  const world = makeWorld()
  const service = new FakeService()
  const process = makeProcess(killAt)
  service.around = process.around
  const rollOut = () => process.around('roll out', 'before')
  const first = makeTraining({
    ...SHAPE,
    ...more,
    world,
    service,
    trainer: service.client({ tellsState, tellsTree }),
    job: world.job({ rollOut, around: process.around }),
  })
  const events = first.training[Symbol.asyncIterator]()
  void (async () => {
    while (!(await events.next()).done);
  })()
  for (let turn = 0; turn < 500 && !process.isDead(); turn += 1) await settle(2)
  await settle(10)
  service.around = async () => {}
  const second = makeTraining({
    ...SHAPE,
    ...more,
    world,
    service,
    trainer: service.client({ tellsState, tellsTree }),
    job: world.job({ resumed: true }),
  })
  const types = (await collectEvents(second.training)).map(({ type }) => type)
  return { world, service, history: second.training.history, types, killedAt: process.names.at(killAt) ?? 'nothing' }
}

/** How many things a whole run does, and what comes of it. */
const WHOLE = await runKilled(Number.POSITIVE_INFINITY, true).then(async () => {
  const world = makeWorld()
  const service = new FakeService()
  const process = makeProcess(Number.POSITIVE_INFINITY)
  service.around = process.around
  const rollOut = () => process.around('roll out', 'before')
  const { training } = makeTraining({ ...SHAPE, world, service, job: world.job({ rollOut, around: process.around }) })
  const history = await training.finish()
  return { ticks: process.names.length, history: timeless(history), applied: service.applied }
})

const withoutLoss = ({ steps, evaluations }: ReturnType<typeof timeless>) => ({
  steps: steps.map(step => ({ ...step, loss: 0, datums: 0 })),
  evaluations,
})

/** Groups that are in the model, each once. */
function checkOnce({ service, killedAt }: Outcome): void {
  const groups = service.applied.flat()
  assert.is(new Set(groups).size, groups.length, `a group was trained on twice after a kill ${killedAt}`)
}

test('killed at any point, with a service that tells what it holds, it ends as if it had never been', async () => {
  assert.ok(WHOLE.ticks > 100, `${WHOLE.ticks} points`)
  for (let killAt = 0; killAt < WHOLE.ticks; killAt += 1) {
    const outcome = await runKilled(killAt, true)
    const at = `killed ${outcome.killedAt} (${killAt})`
    checkOnce(outcome)
    assert.equal(outcome.service.applied, WHOLE.applied, at)
    const history = timeless(outcome.history)
    // The answer of a call that went under with the process is gone, and its figures with it.
    const isAnswerLost = /^after forward-backward|^before put .*call/.test(outcome.killedAt)
    if (isAnswerLost) assert.equal(withoutLoss(history), withoutLoss(WHOLE.history), at)
    else assert.equal(history, WHOLE.history, at)
    for await (const group of outcome.world.journal.groups(outcome.world.jobId))
      if (group.step < 100) assert.is.not(group.consumption, 'pending', at)
  }
})

test('killed at any point, with a service that tells nothing, what may have arrived is dropped and never sent again', async () => {
  let unknown = 0
  for (let killAt = 0; killAt < WHOLE.ticks; killAt += 1) {
    const outcome = await runKilled(killAt, false)
    checkOnce(outcome)
    const { steps } = outcome.history
    assert.is(steps.length, 3)
    for (const { groups, end } of steps) {
      const dropped = Object.values(groups.dropped).reduce((sum, count) => sum + count, 0)
      assert.is(groups.trained + groups.withoutSpread + dropped, groups.planned + groups.added)
      assert.is(end.type, 'trained')
      unknown += groups.dropped['delivery-unknown'] ?? 0
    }
  }
  assert.ok(unknown > 0)
})

test('killed at any point, with a trainer that tells its version alone, nothing is trained twice and every step is made once', async () => {
  for (let killAt = 0; killAt < WHOLE.ticks; killAt += 1) {
    const outcome = await runKilled(killAt, false, {}, false)
    checkOnce(outcome)
    const { steps } = outcome.history
    assert.equal(
      steps.map(({ end, optimStep }) => [end.type, optimStep]),
      [
        ['trained', 1],
        ['trained', 2],
        ['trained', 3],
      ],
      `killed ${outcome.killedAt} (${killAt})`,
    )
    assert.is(outcome.service.applied.length, 3)
  }
})

test('a version and a count of calls are enough for a killed training to end as if it had never been', async () => {
  for (let killAt = 0; killAt < WHOLE.ticks; killAt += 1) {
    const outcome = await runKilled(killAt, true, {}, false)
    assert.equal(outcome.service.applied, WHOLE.applied, `killed ${outcome.killedAt} (${killAt})`)
  }
})

test('killed at any point with a policy lag, nothing is trained twice or lost', async () => {
  for (let killAt = 0; killAt < WHOLE.ticks; killAt += 3) {
    const outcome = await runKilled(killAt, true, { maxPolicyLag: 1 })
    checkOnce(outcome)
    assert.equal(
      outcome.history.steps.map(({ groups }) => groups),
      WHOLE.history.steps.map(({ groups }) => groups),
      `killed ${outcome.killedAt} (${killAt})`,
    )
  }
})

test('killed again and again, it still comes to the same end', async () => {
  const world = makeWorld()
  const service = new FakeService()
  for (let turn = 0; turn < 12; turn += 1) {
    const process = makeProcess(13)
    service.around = process.around
    const job = world.job({ resumed: turn > 0, around: process.around })
    const { training } = makeTraining({ ...SHAPE, world, service, job })
    void training.finish()
    for (let wait = 0; wait < 60 && !process.isDead(); wait += 1) await settle(2)
    await settle(10)
  }
  service.around = async () => {}
  const { training } = makeTraining({ ...SHAPE, world, service, job: world.job({ resumed: true }) })
  const history = await training.finish()
  assert.equal(service.applied, WHOLE.applied)
  assert.equal(withoutLoss(timeless(history)), withoutLoss(WHOLE.history))
})

test('a service that lost what it had accumulated gets those groups again, and that is told', async () => {
  const world = makeWorld()
  const service = new FakeService()
  service.around = async (name, when) => {
    const isHeld = name === 'forward-backward' && when === 'before'
    if (isHeld && service.applied.length === 1 && service.accumulated.length === 1) await new Promise(() => {})
  }
  const first = makeTraining({ ...SHAPE, world, service })
  void first.training.finish()
  await settle(100)
  assert.is(service.accumulated.length, 1)
  service.lose()
  service.around = async () => {}
  const second = makeTraining({ ...SHAPE, world, service, job: world.job({ resumed: true }) })
  const events = await collectEvents(second.training)
  assert.equal(
    events.flatMap(event => (event.type === 'rolled-back' ? [event.why] : [])),
    ['lost-by-service', 'not-delivered'],
  )
  assert.equal(timeless(second.training.history), WHOLE.history)
  assert.equal(service.applied, WHOLE.applied)
})

test('a training that is over is told from its records alone', async () => {
  const { world, service, training } = makeTraining(SHAPE)
  const history = await training.finish()
  const calls = service.calls.length
  const again = makeTraining({ ...SHAPE, world, service, job: world.job({ resumed: true }) })
  const events = await collectEvents(again.training)
  assert.equal(events, [{ type: 'resumed', history }])
  assert.is(service.calls.length, calls)
})

test.run()

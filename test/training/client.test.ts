import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { TrainingClient, type TrainingClientOptions } from '../../src/training/client.ts'
import type { BodySplit } from '../../src/training/errors.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import {
  type FakeTrainingService,
  type FakeTrainingServiceOptions,
  startFakeTrainingService,
} from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'
import { makeTrainingGroups } from './fixtures.ts'

const test = suite('training client')
const SIZE = 4
const OPTIONS = { groupSize: SIZE }

async function withClient(
  body: (client: TrainingClient, service: FakeTrainingService) => Promise<void>,
  { options, service: given }: { options?: TrainingClientOptions; service?: FakeTrainingServiceOptions } = {},
): Promise<void> {
  const service = await startFakeTrainingService(given)
  const client = new TrainingClient('calc-model', { ...service.endpoint, ...options })
  try {
    await body(client, service)
  } finally {
    await client.close()
    await service.close()
  }
}

function statesOf(client: TrainingClient): string[] {
  return client.ledger.map(({ state, groupIds }) => `${state} ${groupIds.join('+')}`)
}

test('every call goes out as the service wants it', () =>
  withClient(async (client, service) => {
    const { id } = service.model()
    assert.equal(await client.availableLosses(), ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'])
    await client.forwardBackward(makeTrainingGroups(1, 2), {
      lossFn: 'ppo',
      lossFnConfig: { clip_low_threshold: 0.8 },
      groupSize: 2,
      rewardScale: 0.5,
      numSubsteps: 2,
    })
    const result = await client.optimStep({ learningRate: 1e-5, beta1: 0.8 })
    assert.equal([result.step, result.model], [1, 'calc-model'])
    const [sent, step] = service.deliveries.filter(({ method }) => method === 'POST')
    assert.is(sent?.path, `/v1/models/${id}/train/forward-backward`)
    assert.equal(
      { ...Object(sent?.body), inputs: [] },
      {
        inputs: [],
        loss_fn: 'ppo',
        loss_fn_config: { clip_low_threshold: 0.8 },
        group_size: 2,
        reward_scale: 0.5,
        num_substeps: 2,
      },
    )
    assert.is(sent?.headers['content-length'], String(sent?.bytes))
    assert.equal(step?.body, { learning_rate: 1e-5, beta1: 0.8, beta2: 0.95, eps: 1e-8, weight_decay: 0 })
    assert.is(service.count('resolve'), 1)
  }))

test('a model comes with where it is served, an id is not resolved, and a wrong one is named', () =>
  withClient(async (_, service) => {
    await using served = new TrainingClient({ model: service.model().id, endpoint: service.endpoint })
    assert.is((await served.availableLosses()).length, 5)
    assert.is(service.count('resolve'), 0)
    await using wrong = new TrainingClient('calc-modell', service.endpoint)
    const runs = makeTrainingGroups(1, 2)
    await assertRejects(wrong.forwardBackward(runs), 'unknown-model', /Did you mean calc-model/)
    await using gone = new TrainingClient('00000000-0000-4000-8000-000000000000', service.endpoint)
    await assertRejects(gone.forwardBackward(runs), 'unknown-model')
  }))

test('a server that hangs up after it read a body gets it once, and the step goes on without that body', () =>
  withClient(async (client, service) => {
    const runs = makeTrainingGroups(4, SIZE)
    await client.forwardBackward(runs.slice(0, SIZE), OPTIONS)
    service.failNext('forward-backward', { type: 'close' })
    const lost = client.forwardBackward(runs.slice(SIZE, 2 * SIZE), OPTIONS)
    const error = await assertRejects(lost, 'service-unreachable', /of 1 it is unknown/)
    assert.equal(error.data.details?.unknown, ['group-1'])
    assert.equal([error.data.details?.accepted, error.data.details?.rejected], [[], []])
    service.failNext('forward-backward', { type: 'answer', status: 429 })
    const refused = client.forwardBackward(runs.slice(2 * SIZE, 3 * SIZE), OPTIONS)
    assert.equal((await assertRejects(refused, 'rate-limited')).data.details?.rejected, ['group-2'])
    await client.forwardBackward(runs.slice(3 * SIZE), OPTIONS)
    assert.is(service.count('forward-backward'), 4)
    assert.equal(statesOf(client), ['accepted group-0', 'unknown group-1', 'rejected group-2', 'accepted group-3'])
    assert.equal(
      client.ledger.map(({ call, numDatums, runIds }) => [call, numDatums, runIds.length]),
      [
        [1, 8, 4],
        [2, null, 4],
        [3, null, 4],
        [4, 8, 4],
      ],
    )
    assert.is((await client.optimStep({ learningRate: 1e-5 })).step, 1)
    assert.equal(client.ledger, [])
  }))

test('a body that counted although its answer was lost is told apart from one that did not', () =>
  withClient(async (client, service) => {
    service.failNext('forward-backward', { type: 'answer', status: 502, acted: true })
    await assertRejects(client.forwardBackward(makeTrainingGroups(1, SIZE), OPTIONS), 'service-error')
    service.failNext('forward-backward', { type: 'answer', status: 200, body: '{}', acted: true })
    await assertRejects(client.forwardBackward(makeTrainingGroups(1, SIZE), OPTIONS), 'bad-reply')
    assert.equal(statesOf(client), ['unknown group-0', 'accepted group-0'])
  }))

test('an optimiser step of unknown end keeps the ledger, and says how to find out', () =>
  withClient(async (client, service) => {
    await client.forwardBackward(makeTrainingGroups(1, SIZE), OPTIONS)
    service.failNext('optim-step', { type: 'close' })
    await assertRejects(
      client.optimStep({ learningRate: 1e-5 }),
      'service-unreachable',
      /head\(\) is another checkpoint/,
    )
    assert.is(service.count('optim-step'), 1)
    assert.equal(statesOf(client), ['accepted group-0'])
  }))

test('bodies over the limit are halved between groups, once without having to be told again', async () => {
  const splits: BodySplit[] = []
  const told: unknown[] = []
  const listen = (message: unknown) => void told.push(message)
  subscribe('troupe:training', listen)
  await withClient(
    async (client, service) => {
      const runs = makeTrainingGroups(8, SIZE)
      const whole = await client.forwardBackward(runs, OPTIONS)
      assert.is(whole.numDatums, 64)
      assert.is(whole.metrics['loss:sum'], 192, 'sums are summed')
      assert.is(whole.metrics['tokens:mean'], 3, 'means are not')
      assert.equal(
        statesOf(client).map(state => state.replaceAll('group-', '')),
        [
          'rejected 0+1+2+3+4+5+6+7',
          'rejected 0+1+2+3',
          'accepted 0+1',
          'accepted 2+3',
          'accepted 4+5',
          'accepted 6+7',
        ],
      )
      assert.is(service.count('forward-backward'), 4)
      await client.optimStep({ learningRate: 1e-5 })
      await client.forwardBackward(runs, OPTIONS)
      assert.equal(
        client.ledger.filter(({ state }) => state === 'rejected'),
        [],
        'the limit was remembered',
      )
      assert.is(service.model().accumulated.length, 64)
      assert.is(splits.length, 1)
      assert.equal([splits[0]?.groups, splits[0]?.limitBytes], [8, undefined])
      assert.is(told.filter(message => Object(message).tag === 'body-split').length, 1)
    },
    { service: { maxBodyBytes: 2_600 }, options: { onSplit: split => void splits.push(split) } },
  )
  unsubscribe('troupe:training', listen)
})

test('a given limit is kept from the first body on', () =>
  withClient(
    async (client, service) => {
      await client.forwardBackward(makeTrainingGroups(4, SIZE), OPTIONS)
      assert.ok(service.count('forward-backward') > 1)
      assert.ok(service.deliveries.every(({ bytes }) => bytes <= 2_600))
      assert.ok(statesOf(client).every(state => state.startsWith('accepted')))
    },
    { options: { maxBodyBytes: 2_600 } },
  ))

test('a group that is over the limit alone is an error, and those before it are told as accepted', () =>
  withClient(
    async (client, service) => {
      const large = makeTrainingGroups(4, SIZE, { outputIds: 300 }).slice(3 * SIZE)
      const runs = [...makeTrainingGroups(3, SIZE), ...large]
      const error = await assertRejects(
        client.forwardBackward(runs, OPTIONS),
        'group-too-large',
        /group-3 alone is \d+ bytes/,
      )
      assert.equal(error.data.details?.accepted, ['group-0', 'group-1', 'group-2'])
      assert.equal(error.data.details?.rejected, ['group-3'])
      const again = await assertRejects(client.forwardBackward(large, OPTIONS), 'group-too-large')
      assert.equal(again.data.details?.rejected, ['group-3'])
      assert.is(service.count('forward-backward'), 2)
      await assertRejects(client.forwardBackward(large), 'group-too-large', /without groupSize/)
    },
    { service: { maxBodyBytes: 2_600 } },
  ))

test('calls are made one after the other, however they were made', () =>
  withClient(async (client, service) => {
    const runs = makeTrainingGroups(2, SIZE)
    const [, step] = await Promise.all([
      client.forwardBackward(runs, OPTIONS),
      client.optimStep({ learningRate: 1e-5 }),
      client.forwardBackward(runs, OPTIONS),
    ])
    assert.is(step.step, 1)
    assert.equal(
      service.deliveries.filter(({ method }) => method === 'POST').map(({ route }) => route),
      ['forward-backward', 'optim-step', 'forward-backward'],
    )
    assert.is(client.ledger.length, 1)
    const many = await Promise.allSettled(Array.from({ length: 70 }, () => client.forwardBackward(runs, OPTIONS)))
    const late = many.filter(each => each.status === 'rejected')
    assert.is(late.length, 6)
    for (const { reason } of late) assert.is(reason.tag, 'too-many-training-calls')
  }))

test('one call may be both halves of a step, and a bad second half stops the first', () =>
  withClient(async (client, service) => {
    const runs = makeTrainingGroups(1, SIZE)
    await assertRejects(client.step(runs, { groupSize: SIZE, learningRate: 0 }), 'bad-training-option')
    assert.is(service.deliveries.length, 0)
    assert.is((await client.step(runs, { groupSize: SIZE, learningRate: 1e-5 })).step, 1)
    assert.not('learning_rate' in Object(service.deliveries.find(({ route }) => route === 'forward-backward')?.body))
  }))

test('a metric of the loss that is no number stops the step, and the body counts', () =>
  withClient(async (client, service) => {
    service.failNext('forward-backward', {
      type: 'answer',
      status: 200,
      body: '{"metrics":{"loss:sum":null,"kl:mean":0.1},"num_datums":8}',
    })
    const failing = client.forwardBackward(makeTrainingGroups(1, SIZE), OPTIONS)
    const error = await assertRejects(failing, 'loss-not-finite', /loss:sum.*setHead/)
    assert.equal(error.data.details?.accepted, ['group-0'])
    assert.equal(statesOf(client), ['accepted group-0'])
  }))

test('a batch in which no group disagrees is told of', async () => {
  const told: unknown[] = []
  const listen = (message: unknown) => void told.push(Object(message).tag)
  subscribe('troupe:training', listen)
  await withClient(async client => {
    await client.forwardBackward(makeTrainingGroups(2, SIZE, { reward: 1 }), OPTIONS)
    await client.forwardBackward([...makeTrainingGroups(1, SIZE, { reward: 1 }), 'trace-1'])
  })
  unsubscribe('troupe:training', listen)
  assert.equal(told, ['no-reward-spread'])
})

test('a key that is missing is an error before anything is sent, and before that of tokens', () =>
  withClient(
    async (client, service) => {
      const error = await assertRejects(client.forwardBackward(makeTrainingGroups(1, SIZE), OPTIONS), 'no-key')
      assert.match(error.message, /TROUPE_TEST_NO_KEY/)
      await assertRejects(client.checkpoints(), 'no-key')
      assert.is(service.connections, 0)
    },
    { options: { apiKeyVariable: 'TROUPE_TEST_NO_KEY' } },
  ))

test('a wrong key is refused by name, a right one passes', () =>
  withClient(
    async (client, service) => {
      const runs = makeTrainingGroups(1, SIZE)
      await assertRejects(client.forwardBackward(runs, OPTIONS), 'unauthorized', /answered 401/)
      await using good = new TrainingClient('calc-model', { ...service.endpoint, apiKey: 'right' })
      assert.is((await good.forwardBackward(runs, OPTIONS)).numDatums, 8)
    },
    { service: { key: 'right' }, options: { apiKey: 'wrong' } },
  ))

test.run()

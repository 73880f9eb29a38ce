import * as assert from 'uvu/assert'
import { TrainingClient } from '../../src/training/client.ts'
import type { DatumTensors } from '../../src/training/custom-loss.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { type FakeTrainingService, startFakeTrainingService } from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'
import { makeTrainingGroups } from './fixtures.ts'

const test = suite('custom loss')

async function withClient(
  body: (client: TrainingClient, service: FakeTrainingService) => Promise<void>,
  maxBodyBytes?: number,
): Promise<void> {
  const service = await startFakeTrainingService(maxBodyBytes === undefined ? {} : { maxBodyBytes })
  await using client = new TrainingClient('calc-model', service.endpoint)
  try {
    await body(client, service)
  } finally {
    await service.close()
  }
}

const plainWeights = (data: readonly DatumTensors[]) => ({
  weights: data.map(({ logprobs, reward }) => logprobs.map(() => reward - 0.5)),
  metrics: { 'mine:mean': 2 },
})

test('a function from tensors to weights makes a gradient, in a pass and a way back', () =>
  withClient(async (client, service) => {
    const runs = makeTrainingGroups(2, 2)
    const seen: DatumTensors[] = []
    const result = await client.forwardBackwardCustom(
      runs,
      data => {
        seen.push(...data)
        return plainWeights(data)
      },
      { groupSize: 2 },
    )
    assert.is(result.numDatums, 8)
    assert.equal(
      seen.map(({ trajectoryIndex, groupIndex, reward }) => [trajectoryIndex, groupIndex, reward]),
      [0, 0, 1, 1, 2, 2, 3, 3].map(index => [index, Math.floor(index / 2), index % 2]),
    )
    assert.equal(seen[0]?.mask, [1, 1, 1])
    const back = service.deliveries.find(({ route }) => route === 'backward')
    assert.equal(Object(back?.body).weights[2], [0.5, 0.5, 0.5])
    assert.equal(Object(back?.body).metrics, { 'mine:mean': 2 })
    assert.equal(
      client.ledger.map(({ state, groupIds, numDatums }) => [state, groupIds, numDatums]),
      [['accepted', ['group-0', 'group-1'], 8]],
    )
    assert.is((await client.optimStep({ learningRate: 1e-5 })).step, 1)
  }))

test('the halves by hand do the same', () =>
  withClient(async (client, service) => {
    const { forwardId, data } = await client.forward(makeTrainingGroups(1, 2))
    assert.is(data[0]?.groupIndex, null)
    assert.equal(client.ledger, [], 'a forward pass accumulates nothing')
    const { weights } = plainWeights(data)
    const result = await client.backward(
      forwardId,
      weights.map(row => Float32Array.from(row)),
    )
    assert.is(result.numDatums, 4)
    await assertRejects(client.backward(forwardId, weights), 'unknown-model')
    assert.is(service.count('backward'), 2)
  }))

test('a batch that is split counts its indices through', () =>
  withClient(async client => {
    const seen: (number | null)[][] = []
    const result = await client.forwardBackwardCustom(
      makeTrainingGroups(4, 2),
      data => {
        seen.push(...data.map(({ trajectoryIndex, groupIndex }) => [trajectoryIndex, groupIndex]))
        return plainWeights(data)
      },
      { groupSize: 2 },
    )
    assert.is(result.numDatums, 16)
    assert.is(result.metrics['loss:sum'], 48)
    assert.equal(
      seen,
      Array.from({ length: 16 }, (_, datum) => [Math.floor(datum / 2), Math.floor(datum / 4)]),
    )
  }, 1_300))

test('weights that do not fit, or are no numbers, name the datum and are not sent', () =>
  withClient(async (client, service) => {
    const runs = makeTrainingGroups(1, 2)
    const spoilt = (change: (weights: number[][]) => void) =>
      client.forwardBackwardCustom(runs, data => {
        const weights = plainWeights(data).weights
        change(weights)
        return { weights }
      })
    await assertRejects(
      spoilt(weights => void weights[2]?.splice(1, 1, Number.NaN)),
      'bad-weights',
      /datum 2 has NaN for token 1/,
    )
    await assertRejects(
      spoilt(weights => void weights[1]?.pop()),
      'bad-weights',
      /datum 1 has 2 weights for 3 tokens/,
    )
    await assertRejects(
      spoilt(weights => void weights.push([1])),
      'bad-weights',
      /datum 4 has 1 weights for 0 tokens/,
    )
    await assertRejects(
      client.forwardBackwardCustom(runs, () => {
        throw new Error('mine')
      }),
      'unexpected',
      /mine/,
    )
    assert.is(service.count('backward'), 0)
    assert.equal(client.ledger, [])
  }))

test.run()

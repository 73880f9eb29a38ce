import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { trajectory, withServer } from './scene.ts'

const test = suite('bad training calls')

const sample = { prompt_token_ids: [1, 2], output_token_ids: [3, 0], output_logprobs: [-1, -1] }
const withSample = (changed: object) => ({
  inputs: [trajectory(1), trajectory(0), { samples: [sample, { ...sample, ...changed }], reward: 1 }],
})

test('each is refused with the place that is wrong, and nothing of it is counted', async () => {
  const cases: readonly (readonly [body: unknown, status: number, message: RegExp])[] = [
    [{ inputs: [] }, 400, /^inputs: at least one/],
    [{ inputs: [trajectory(1), 'trace-1'] }, 400, /^inputs\[1\]: this server has no traces/],
    [{ inputs: [{ samples: [], reward: 1 }] }, 400, /^inputs\[0\]\.samples: .*at least one sample/],
    [{ inputs: [{ samples: [sample] }] }, 400, /^inputs\[0\]\.reward: /],
    [{ inputs: [{ samples: [sample], reward: null }] }, 400, /^inputs\[0\]\.reward: /],
    [{ inputs: [{ ...trajectory(1), more: 1 }] }, 400, /^inputs\[0\]: .*more/],
    [
      withSample({ output_logprobs: [-1] }),
      400,
      /^inputs\[2\]\.samples\[1\]: 2 output_token_ids and 1 output_logprobs/,
    ],
    [withSample({ output_logprobs: undefined }), 400, /^inputs\[2\]\.samples\[1\]: 2 output_token_ids and 0/],
    [
      withSample({ output_logprobs: [-1, null] }),
      400,
      /^inputs\[2\]\.samples\[1\]\.output_logprobs: the 1th is no finite/,
    ],
    [
      withSample({ output_token_ids: [3, 32] }),
      400,
      /^inputs\[2\]\.samples\[1\]: token id 32 is out of the vocabulary of 32/,
    ],
    [
      withSample({ output_token_ids: [3, -1] }),
      400,
      /^inputs\[2\]\.samples\[1\]\.output_token_ids: the 1th is no token id: -1/,
    ],
    [withSample({ output_token_ids: 'abc' }), 400, /^inputs\[2\]\.samples\[1\]\.output_token_ids: a list/],
    [withSample({ prompt_token_ids: [] }), 400, /^inputs\[2\]\.samples\[1\]\.prompt_token_ids: a prompt/],
    [
      withSample({ prompt_token_ids: Array(63).fill(1) }),
      400,
      /^inputs\[2\]\.samples\[1\]: 65 tokens .* context is 64/,
    ],
    [withSample({ prompt_chunks: [{}] }), 400, /^inputs\[2\]\.samples\[1\]\.prompt_chunks: /],
    [withSample({ output_token_ids: [], output_logprobs: [] }), 400, /^inputs\[2\]\.samples\[1\]\.output_token_ids: /],
    [
      { inputs: [trajectory(1), trajectory(0), trajectory(1)], group_size: 2 },
      400,
      /^group_size: 3 inputs do not divide into groups of 2/,
    ],
    [{ inputs: [trajectory(1)], group_size: 0 }, 400, /^group_size: /],
    [{ inputs: [trajectory(1)], num_substeps: 17 }, 400, /^num_substeps: /],
    [{ inputs: [trajectory(1)], loss_fn: 'gspo' }, 400, /no loss 'gspo'; there is cross_entropy/],
    [
      { inputs: [trajectory(1)], loss_fn: 'ppo', loss_fn_config: { clip: 1 } },
      400,
      /^loss_fn_config: ppo has no key 'clip'/,
    ],
    [
      { inputs: [trajectory(1)], loss_fn: 'ppo', loss_fn_config: { clip_low_threshold: 2 } },
      400,
      /^loss_fn_config: ppo needs 0 ≤/,
    ],
    ['{"inputs": [NaN]}', 400, /^the body is not JSON that can be read/],
    [
      { inputs: [trajectory(1, [3], -1000), trajectory(0, [3], -1000)] },
      422,
      /^inputs\[0\]\.samples\[0\]: the loss is not finite/,
    ],
  ]
  await withServer({}, async ({ train, get, server }) => {
    for (const [body, status, message] of cases) {
      const reply = await train('forward-backward', body)
      assert.is(reply.status, status, `${message}`)
      assert.match(reply.body.error.message, message)
      assert.is(reply.body.detail, reply.body.error.message)
    }
    const { body: state } = await get(`/v1/models/${server.model}/train/state`)
    assert.equal(state.accumulated, { calls: 0, datums: 0, call_ids: [] })
    assert.is((await train('optim-step', { learning_rate: 0.1 })).status, 409)
  })
})

test('a learning rate is above 0', async () => {
  await withServer({}, async ({ train }) => {
    for (const body of [{ learning_rate: 0 }, { learning_rate: -1 }, {}, { learning_rate: 1, beta1: 1 }]) {
      const reply = await train('optim-step', body)
      assert.is(reply.status, 400)
    }
    assert.match((await train('optim-step', { learning_rate: 0 })).body.error.message, /^learning_rate: .*above 0/)
  })
})

test('a body over the limit is 413 and says how to cut it', async () => {
  await withServer({ bodyLimitBytes: 2_000 }, async ({ train }) => {
    const many = Array.from({ length: 100 }, () => trajectory(1))
    const { status, body } = await train('forward-backward', { inputs: many })
    assert.is(status, 413)
    assert.match(body.error.message, /2000 bytes .* cut between groups/)
  })
})

test('a loss that is not finite leaves what was counted before as it was', async () => {
  await withServer({}, async ({ train }) => {
    const good = { inputs: [trajectory(1, [3, 0]), trajectory(0, [4, 0])] }
    const bad = { inputs: [trajectory(1, [3], -1000), trajectory(0, [3], -1000)] }
    const under = async (bodies: readonly object[]) => {
      for (const body of bodies) await train('forward-backward', body)
      await train('optim-step', { learning_rate: 0.1 })
      return (await train('forward', good)).body.data[0].logprobs
    }
    const disturbed = await under([good, bad])
    const undisturbed = await withServer({}, async other => {
      await other.train('forward-backward', good)
      await other.train('optim-step', { learning_rate: 0.1 })
      return (await other.train('forward', good)).body.data[0].logprobs
    })
    assert.equal(disturbed, undisturbed)
  })
})

test.run()

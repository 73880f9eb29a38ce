import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { makeLatch, trajectory, withServer } from './scene.ts'
import { logSoftmax } from './unigram.ts'

const test = suite('the training surface')

/** Four runs in two groups; only the first group's rewards differ. */
const inputs = [trajectory(1, [3, 0]), trajectory(0, [4, 0]), trajectory(1, [5, 0]), trajectory(1, [6, 0])]
const body = { inputs, loss_fn: 'importance_sampling', group_size: 2, reward_scale: 1, num_substeps: 1 }

test('names the losses it has', async () => {
  await withServer({}, async ({ get, server }) => {
    const { body: reply } = await get(`/v1/models/${server.model}/train/losses`)
    assert.equal(reply, { losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'] })
  })
})

test('counts the data of groups whose rewards differ, and gives the figures of the published service', async () => {
  await withServer({}, async ({ train }) => {
    const { status, body: reply } = await train('forward-backward', body)
    assert.is(status, 200)
    assert.is(reply.num_datums, 2)
    assert.equal(Object.keys(reply.metrics).sort(), [
      'clip_fraction:mean',
      'kl:mean',
      'loss:sum',
      'reward:mean',
      'reward_std:mean',
      'tokens:sum',
    ])
    assert.is(reply.metrics['tokens:sum'], 4)
    assert.is(reply.metrics['reward:mean'], 0.75)
    assert.is(reply.metrics['reward_std:mean'], 0.25)
    assert.ok(Number.isFinite(reply.metrics['loss:sum']))
  })
})

test('an optim-step makes the better tokens likelier, and replies when they are served', async () => {
  await withServer({}, async ({ train, chat, samplers, server, get }) => {
    const before = await chat({ seed: 1 })
    await train('forward-backward', body)
    const { status, body: step } = await train('optim-step', { learning_rate: 0.1 })
    assert.is(status, 200)
    assert.is(step.step, 1)
    assert.is(step.model, server.model)
    assert.ok(step.sampler_path.includes(step.checkpoint_id) && step.state_path.includes(step.checkpoint_id))
    const after = await chat({ seed: 1 })
    assert.is(before.body.system_fingerprint, 'base')
    assert.is(after.body.system_fingerprint, step.checkpoint_id)
    assert.is(samplers.length, 1)
    const forward = await train('forward', { inputs: [trajectory(0, [3, 0]), trajectory(0, [4, 0])] })
    const [good, bad] = forward.body.data.map((each: { logprobs: number[] }) => each.logprobs[0])
    assert.ok(good > bad)
    const [checkpoint] = (await get(`/v2/models/${server.model}/checkpoints`)).body
    assert.is(checkpoint.id, step.checkpoint_id)
    assert.is(checkpoint.prev_model_checkpoint_id, null)
    assert.is(checkpoint.is_active, true)
    assert.is(checkpoint.num_traces, 4)
    assert.is(checkpoint.num_datums, 2)
    assert.is(checkpoint.num_tokens, 4)
    assert.is(checkpoint.mean_reward, 0.75)
    assert.is(checkpoint.learning_rate, 0.1)
    assert.is(checkpoint.loss_fn, 'importance_sampling')
  })
})

test('loss and weights do not depend on how a batch is cut into calls', async () => {
  const all = Array.from({ length: 8 }, (_, n) => trajectory((n * 7) % 3, [3 + n, 5, 0]))
  const run = (cuts: readonly number[]) =>
    withServer({}, async ({ train }) => {
      let from = 0
      let loss = 0
      for (const size of cuts) {
        const { body: reply } = await train('forward-backward', {
          ...body,
          inputs: all.slice(from, from + size),
        })
        loss += reply.metrics['loss:sum']
        from += size
      }
      // Advantages sum to nothing, so some slopes are rounding alone: eps keeps Adam from making steps of them.
      await train('optim-step', { learning_rate: 0.05, eps: 1e-2 })
      const { body: reply } = await train('forward', { inputs: all })
      return { loss, logprobs: reply.data.flatMap((each: { logprobs: number[] }) => each.logprobs) }
    })
  const whole = await run([8])
  for (const cuts of [
    [2, 2, 2, 2],
    [6, 2],
  ]) {
    const cut = await run(cuts)
    assert.ok(Math.abs(cut.loss - whole.loss) < 1e-5)
    for (const [place, logprob] of cut.logprobs.entries()) assert.ok(Math.abs(logprob - whole.logprobs[place]) < 1e-5)
  }
})

test('cross entropy weighs by the reward itself, and takes samples without log-probabilities', async () => {
  await withServer({}, async ({ train }) => {
    const demonstration = { samples: [{ prompt_token_ids: [1], output_token_ids: [3, 0] }], reward: 1 }
    const { status, body: reply } = await train('forward-backward', {
      inputs: [demonstration, { ...demonstration, reward: 0 }],
      loss_fn: 'cross_entropy',
      reward_scale: 2,
    })
    assert.is(status, 200)
    assert.is(reply.num_datums, 1)
    assert.is(reply.metrics['kl:mean'], undefined)
    const base = logSoftmax(new Float32Array(32).with(0, 2))
    const expected = -2 * ((base[3] ?? 0) + (base[0] ?? 0))
    assert.ok(Math.abs(reply.metrics['loss:sum'] - expected) < 1e-5)
  })
})

test('a step without a gradient is refused and says why, and changes nothing', async () => {
  await withServer({}, async ({ train, get, server }) => {
    const none = await train('optim-step', { learning_rate: 1e-3 })
    assert.is(none.status, 409)
    assert.match(none.body.error.message, /no forward-backward/)
    const flat = { inputs: [trajectory(1), trajectory(1)], group_size: 2 }
    const { body: reply } = await train('forward-backward', flat)
    assert.is(reply.num_datums, 0)
    assert.is(reply.metrics['loss:sum'], 0)
    const still = await train('optim-step', { learning_rate: 1e-3 })
    assert.is(still.status, 409)
    assert.match(still.body.error.message, /1 forward-backward calls .* no reward in them differed/)
    assert.equal((await get(`/v2/models/${server.model}/checkpoints`)).body, [])
  })
})

test('calls are made one after the other: a step that comes during a forward-backward waits for it', async () => {
  await withServer({}, async ({ train, trainers, get }) => {
    await train('forward', { inputs })
    const [trainer] = trainers
    assert.ok(trainer)
    const { accumulate } = trainer
    const [held, release] = makeLatch()
    const [started, begun] = makeLatch()
    trainer.accumulate = async (data, loss) => {
      begun()
      await held
      return await accumulate(data, loss)
    }
    const call = train('forward-backward', body)
    await started
    const step = train('optim-step', { learning_rate: 0.1 })
    await get('/v1/models')
    assert.not.ok(trainer.calls.includes('step'))
    release()
    assert.is((await call).status, 200)
    assert.is((await step).status, 200)
  })
})

test('a custom loss gets log-probabilities and gives gradients back, once', async () => {
  await withServer({}, async ({ train }) => {
    const { body: forward } = await train('forward', { inputs, group_size: 2, reward_scale: 2 })
    assert.equal(
      forward.data.map(({ reward, traj_idx, group_idx }: Record<string, number>) => [reward, traj_idx, group_idx]),
      [
        [2, 0, 0],
        [0, 1, 0],
        [2, 2, 1],
        [2, 3, 1],
      ],
    )
    const [datum] = forward.data
    assert.equal(datum.sampling_logprobs, [-2, -2])
    assert.equal(datum.mask, [1, 1])
    assert.is(datum.logprobs.length, 2)
    const weights = [
      [1, 0],
      [0, 0],
      [0, 0],
      [-1, 0],
    ]
    const call = { forward_id: forward.forward_id, weights, metrics: { mine: 4 } }
    const short = await train('backward', { ...call, weights: weights.slice(1) })
    assert.match(short.body.error.message, /^weights: 3 lists for the 4 data/)
    const ragged = await train('backward', { ...call, weights: [[1], ...weights.slice(1)] })
    assert.match(ragged.body.error.message, /^weights\[0\]: 1 weights for 2 output tokens/)
    const { status, body: reply } = await train('backward', call)
    assert.is(status, 200)
    assert.is(reply.num_datums, 2)
    assert.is(reply.metrics.mine, 4)
    assert.is((await train('backward', call)).status, 409)
    await train('optim-step', { learning_rate: 0.1 })
    const { body: after } = await train('forward', { inputs })
    assert.ok(after.data[0].logprobs[0] > forward.data[0].logprobs[0])
    assert.ok(after.data[3].logprobs[0] < forward.data[3].logprobs[0])
  })
})

test('a forward pass under weights that have changed since is not gone on from', async () => {
  await withServer({}, async ({ train }) => {
    const { body: forward } = await train('forward', { inputs })
    await train('forward-backward', body)
    await train('optim-step', { learning_rate: 0.1 })
    const { status, body: reply } = await train('backward', { forward_id: forward.forward_id, weights: [] })
    assert.is(status, 409)
    assert.match(reply.error.message, /weights have changed/)
  })
})

test('ids and names lead to the same model', async () => {
  await withServer({}, async ({ post, get, server }) => {
    const { body: model } = await get(`/v2/models/resolve?model=${server.model}`)
    assert.match(model.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.is((await post(`/v1/models/${model.id}/train/forward-backward`, body)).status, 200)
    assert.is((await post('/v1/models/other/train/forward-backward', body)).status, 404)
  })
})

test.run()

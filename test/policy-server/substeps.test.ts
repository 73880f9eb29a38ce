import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { trajectory, withServer } from './scene.ts'

const test = suite('substeps')

const all = Array.from({ length: 16 }, (_, n) => trajectory(n % 2, [3 + n, 5, 0]))
const body = { loss_fn: 'ppo', group_size: 2, num_substeps: 4, loss_fn_config: { epochs: 2 } }

/** Log-probabilities after one optim-step over `all` in these chunks. */
const after = (chunks: readonly (typeof all)[]) =>
  withServer({}, async ({ train, trainers, get, server }) => {
    const losses: number[] = []
    for (const inputs of chunks) {
      const reply = await train('forward-backward', { ...body, inputs })
      assert.is(reply.status, 200)
      losses.push(reply.body.metrics['loss:sum'])
    }
    const { body: step } = await train('optim-step', { learning_rate: 0.05 })
    assert.is(step.step, 1)
    assert.is((await get(`/v2/models/${server.model}/checkpoints`)).body.length, 1)
    const steps = trainers[0]?.calls.filter(call => call === 'step').length
    const { body: forward } = await train('forward', { inputs: all })
    return { losses, steps, logprobs: forward.data.flatMap((each: { logprobs: number[] }) => each.logprobs) }
  })

test('one optim-step makes epochs × substeps updates and one checkpoint', async () => {
  const { steps, losses } = await after([all])
  assert.is(steps, 8)
  assert.ok(losses.every(Number.isFinite))
})

test('the updates do not depend on chunks, nor on their order', async () => {
  const whole = await after([all])
  const cut = await after([all.slice(8), all.slice(0, 8)])
  assert.equal(cut.logprobs, whole.logprobs)
})

test('calls of one optim-step agree on them', async () => {
  await withServer({}, async ({ train }) => {
    const inputs = all.slice(0, 2)
    await train('forward-backward', { ...body, inputs })
    for (const changed of [{ num_substeps: 2 }, { num_substeps: 1, loss_fn_config: {} }, { loss_fn: 'cispo' }]) {
      const reply = await train('forward-backward', { ...body, inputs, ...changed })
      assert.is(reply.status, 409)
      assert.match(reply.body.error.message, /those before had 4 substeps and 2 epochs of ppo \(low 0.8, high 1.28\)/)
    }
    assert.is((await train('forward-backward', { ...body, inputs })).status, 200)
    assert.is((await train('optim-step', { learning_rate: 0.1 })).status, 200)
    assert.is((await train('forward-backward', { ...body, inputs, num_substeps: 1, loss_fn_config: {} })).status, 200)
  })
})

test('an update whose loss is not finite undoes those before it, and what was kept is still there', async () => {
  await withServer({}, async ({ train, trainers, get, server, chat }) => {
    await train('forward-backward', { ...body, inputs: all })
    const [trainer] = trainers
    assert.ok(trainer)
    const before = (await train('forward', { inputs: all })).body.data
    const { accumulate } = trainer
    let calls = 0
    trainer.accumulate = async (data, loss) => {
      calls += 1
      if (calls === 3) throw new TroupeError({ tag: 'loss-not-finite', message: 'not finite', details: { datum: 0 } })
      return await accumulate(data, loss)
    }
    const { status, body: reply } = await train('optim-step', { learning_rate: 0.05 })
    assert.is(status, 422)
    assert.match(reply.error.message, /^update 3 of 8, datum 0: /)
    assert.equal((await train('forward', { inputs: all })).body.data, before)
    assert.is((await get(`/v1/models/${server.model}/train/state`)).body.accumulated.datums, 16)
    assert.is((await train('optim-step', { learning_rate: 0.05 })).status, 200)
    assert.not.equal((await chat({})).body.system_fingerprint, 'base')
  })
})

test.run()

import * as assert from 'uvu/assert'
import { type Clock, systemClock } from '../../../src/clock.ts'
import type { Run } from '../../../src/rollout/run.ts'
import { openTinkerTrainer } from '../../../src/training/adapters/open-tinker.ts'
import type { TinkerOptions, TinkerTrainer } from '../../../src/training/adapters/tinker.ts'
import { until } from '../../end-to-end/scene.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { type FakeTinker, hastyClock, startFakeTinker, type TinkerFault } from '../../support/fake-tinker.ts'
import { suite } from '../../support/suite.ts'
import { makeTrainingGroups, makeTrainingRun } from '../fixtures.ts'

const test = suite('Tinker trainer')

async function withTinker(
  body: (service: FakeTinker, open: (more?: Partial<TinkerOptions>) => Promise<TinkerTrainer>) => Promise<void>,
): Promise<void> {
  const service = await startFakeTinker()
  const opened: TinkerTrainer[] = []
  try {
    await body(service, async more => {
      const trainer = await openTinkerTrainer({
        baseUrl: service.url,
        apiKey: service.key,
        baseModel: 'Qwen/Qwen3-8B',
        clock: hastyClock,
        ...more,
      })
      opened.push(trainer)
      return trainer
    })
  } finally {
    for (const trainer of opened) await trainer.close()
    await service.close()
  }
}

const routes = ({ posts }: FakeTinker) => posts.map(({ route }) => route)

/** Two attempts, of a reward of 0 and one of 1. */
function makeGroup(group = 0): Run[] {
  const tokens = [{ prompt: Uint32Array.of(5, 6), output: Uint32Array.of(7, 8), logprobs: Float32Array.of(-0.5, -1.5) }]
  return [0, 1].map(member => makeTrainingRun({ group, member, reward: member, tokens }))
}

test('a step goes out as Tinker’s own client sends it', () =>
  withTinker(async (service, open) => {
    const trainer = await open({ rank: 8 })
    const { metrics, numDatums } = await trainer.forwardBackward(makeGroup(), { groupSize: 2, lossFn: 'ppo' })
    assert.equal([numDatums, metrics], [2, { 'loss:sum': 0 }])
    const { policyVersion, step } = await trainer.optimStep({ learningRate: 1e-4, beta2: 0.9 })
    assert.equal([policyVersion, step], ['tinker://model-1/sampler_weights/step-000001', 1])
    assert.equal(routes(service), [
      'create_session',
      'create_model',
      'forward_backward',
      'optim_step',
      'save_weights',
      'save_weights_for_sampler',
    ])
    const [, model, backward, optim] = service.posts.map(({ body }) => body)
    assert.equal(model?.lora_config, { rank: 8 })
    const datum = (advantage: number) => ({
      model_input: { chunks: [{ type: 'encoded_text', tokens: [5, 6, 7] }] },
      loss_fn_inputs: {
        target_tokens: { data: [6, 7, 8], dtype: 'int64', shape: [3] },
        logprobs: { data: [0, -0.5, -1.5], dtype: 'float32', shape: [3] },
        advantages: { data: [0, advantage, advantage], dtype: 'float32', shape: [3] },
      },
    })
    assert.equal(backward, {
      model_id: 'model-1',
      seq_id: 1,
      forward_backward_input: { data: [datum(-0.5), datum(0.5)], loss_fn: 'ppo' },
    })
    assert.equal(optim, { model_id: 'model-1', seq_id: 2, adam_params: { learning_rate: 1e-4, beta2: 0.9 } })
  }))

test('advantages are the caller’s where that says so, and scaled', () =>
  withTinker(async (service, open) => {
    const trainer = await open({ advantages: rewards => rewards.map(reward => reward * 10) })
    await trainer.forwardBackward(makeGroup(), { groupSize: 2, rewardScale: 0.5 })
    const sent = JSON.stringify(service.posts.at(-1)?.body)
    assert.match(sent, '"advantages":{"data":[0,0,0]')
    assert.match(sent, '"advantages":{"data":[0,5,5]')
  }))

test('a result that is not there yet is asked for again, and the request is made once', () =>
  withTinker(async (service, open) => {
    const trainer = await open()
    const asked = service.asked()
    await trainer.forwardBackward(makeGroup(), { groupSize: 2 })
    assert.is(service.asked() - asked, 3)
    assert.is(routes(service).filter(route => route === 'forward_backward').length, 1)
  }))

test('of a call that failed it says which groups are in the model, which are not, and of which nobody knows', async () => {
  const cases: readonly (readonly [TinkerFault, 'rejected' | 'unknown', string])[] = [
    ['refuse', 'rejected', 'rate-limited'],
    ['hang-up', 'unknown', 'service-unreachable'],
    ['user-error', 'rejected', 'tinker-request-failed'],
    ['server-error', 'unknown', 'tinker-request-failed'],
  ]
  for (const [fault, state, tag] of cases)
    await withTinker(async (service, open) => {
      const trainer = await open()
      service.failNext('forward_backward', fault)
      const error = await assertRejects(trainer.forwardBackward(makeGroup(), { groupSize: 2 }), tag)
      const { accepted, rejected, unknown } = error.data.details ?? {}
      assert.equal(
        { accepted, rejected, unknown },
        { accepted: [], rejected: [], unknown: [], [state]: ['group-0'] },
        fault,
      )
      assert.is(routes(service).filter(route => route === 'forward_backward').length, fault === 'refuse' ? 0 : 1)
      // And it goes on: a request that never arrived leaves no gap in the numbers.
      await trainer.forwardBackward(makeGroup(1), { groupSize: 2 })
      await trainer.optimStep({ learningRate: 1e-4 })
    })
})

test('a call that is too much for one request is cut between groups, and each group’s end is its own', () =>
  withTinker(async (service, open) => {
    const trainer = await open()
    // 128 samples a group, which is what one request takes.
    const runs = makeTrainingGroups(3, 64, { turns: 2 })
    service.failNext('forward_backward', 'server-error', 1)
    const error = await assertRejects(trainer.forwardBackward(runs, { groupSize: 64 }), 'tinker-request-failed')
    const { accepted, rejected, unknown } = error.data.details ?? {}
    assert.equal([accepted, unknown, rejected], [['group-0'], ['group-1'], ['group-2']])
  }))

test('a group that is too much for one request alone is accepted with its last part only', () =>
  withTinker(async (service, open) => {
    const trainer = await open()
    const runs = makeTrainingGroups(1, 100, { turns: 2 })
    service.failNext('forward_backward', 'refuse', 1)
    const error = await assertRejects(trainer.forwardBackward(runs, { groupSize: 100 }), 'rate-limited')
    assert.equal(error.data.details?.unknown, ['group-0'])
    const { numDatums } = await trainer.forwardBackward(runs, { groupSize: 100 })
    assert.is(numDatums, 200)
  }))

test('weights whose saving was not answered are saved again, and the step is made once', () =>
  withTinker(async (service, open) => {
    const trainer = await open()
    await trainer.forwardBackward(makeGroup(), { groupSize: 2 })
    service.failNext('save_weights_for_sampler', 'hang-up')
    const { policyVersion } = await trainer.optimStep({ learningRate: 1e-4 })
    assert.is(await trainer.policyVersion(), policyVersion)
    assert.is(routes(service).filter(route => route === 'optim_step').length, 1)
    assert.is(routes(service).filter(route => route === 'save_weights_for_sampler').length, 2)
  }))

test('a later process goes on from the version that the training was left at', () =>
  withTinker(async (service, open) => {
    const first = await open()
    await first.forwardBackward(makeGroup(), { groupSize: 2 })
    const { policyVersion } = await first.optimStep({ learningRate: 1e-4 })
    await first.forwardBackward(makeGroup(), { groupSize: 2 })
    await first.close()
    const second = await open({ resumeFrom: policyVersion })
    assert.is(await second.policyVersion(), policyVersion)
    assert.equal(await second.state(), { step: 1, calls: 0 }, 'what was not saved is gone, and will be sent again')
    assert.equal(service.posts.at(-1), {
      route: 'load_weights',
      body: { model_id: 'model-2', seq_id: 1, path: 'tinker://model-1/weights/step-000001', optimizer: true },
    })
    await second.forwardBackward(makeGroup(), { groupSize: 2 })
    assert.equal(await second.optimStep({ learningRate: 1e-4 }), {
      policyVersion: 'tinker://model-2/sampler_weights/step-000002',
      step: 2,
    })
    await assertRejects(open({ resumeFrom: 'v3' }), 'not-a-checkpoint', /leave resumeFrom out/)
    await assertRejects(
      open({ resumeFrom: 'tinker://model-9/sampler_weights/step-000001' }),
      'tinker-request-failed',
      /there is no tinker:\/\/model-9/,
    )
  }))

test('it samples from the base first, and then from the newest version', () =>
  withTinker(async (service, open) => {
    const trainer = await open()
    const first = await trainer.sample([1, 2], { maxTokens: 2, seed: 3 })
    assert.equal(first, { version: null, samples: [{ tokens: [7, 8], logprobs: [-0.5, -1], stopReason: 'length' }] })
    await trainer.forwardBackward(makeGroup(), { groupSize: 2 })
    const { policyVersion } = await trainer.optimStep({ learningRate: 1e-4 })
    assert.is((await trainer.sample([1], { maxTokens: 1 })).version, policyVersion)
    const [base, newest] = service.posts.filter(({ route }) => route === 'asample').map(({ body }) => body)
    assert.equal([base?.base_model, base?.model_path], ['Qwen/Qwen3-8B', undefined])
    assert.equal([newest?.base_model, newest?.model_path], [undefined, policyVersion])
  }))

test('a session beats while it is open, and no longer', () =>
  withTinker(async (service, open) => {
    let beats = 0
    const clock: Clock = {
      ...systemClock,
      after(delayMs, wake) {
        if (delayMs === 10_000) beats += 1
        return systemClock.after(delayMs <= 10_000 ? 0 : delayMs, wake)
      },
    }
    const trainer = await open({ clock })
    await until(
      () => service.heartbeats() >= 3,
      () => `${service.heartbeats()} heartbeats`,
    )
    await trainer.close()
    const atEnd = beats
    await new Promise(resolve => setImmediate(resolve))
    assert.ok(beats <= atEnd + 1, 'the last one under way may come to its end')
  }))

test('without a key nothing is sent', () =>
  withTinker(async (service, open) => {
    const kept = process.env.TINKER_API_KEY
    delete process.env.TINKER_API_KEY
    try {
      await assertRejects(open({ apiKey: '' }), 'no-key', /TINKER_API_KEY/)
      assert.equal(service.posts, [])
    } finally {
      if (kept !== undefined) process.env.TINKER_API_KEY = kept
    }
  }))

test.run()

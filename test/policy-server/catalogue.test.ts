import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { makeLatch, type Scene, trajectory, withServer } from './scene.ts'

const test = suite('the catalogue')

const inputs = [trajectory(1, [3, 0]), trajectory(0, [4, 0])]

async function step({ post }: Scene, model: string): Promise<string> {
  await post(`/v1/models/${model}/train/forward-backward`, { inputs })
  const { body } = await post(`/v1/models/${model}/train/optim-step`, { learning_rate: 0.1 })
  return body.checkpoint_id
}

async function logprobsOf({ post }: Scene, model: string): Promise<number[]> {
  const { body } = await post(`/v1/models/${model}/train/forward`, { inputs })
  return body.data.flatMap((each: { logprobs: number[] }) => each.logprobs)
}

test('lists its models in pages, and finds one by id, by name, and with the provider in front', async () => {
  await withServer({ name: 'calc' }, async ({ get }) => {
    const { body: page } = await get('/v2/models?limit=10&offset=0')
    assert.is(page.total, 1)
    const [model] = page.items
    assert.is(model.model_name, 'calc')
    assert.is(model.is_trainable, true)
    for (const path of [
      `resolve?model=calc`,
      `resolve?model=troupe/calc`,
      `resolve?model=${model.id}`,
      model.id,
      'calc',
    ])
      assert.equal((await get(`/v2/models/${path}`)).body, model)
    const unknown = await get('/v2/models/resolve?model=nothing')
    assert.is(unknown.status, 404)
    assert.match(unknown.body.detail, /no model 'nothing' here; there is calc/)
    assert.equal((await get('/v2/models?offset=1')).body.items, [])
  })
})

test('checkpoints form a tree: after a roll-back the next step branches off', async () => {
  await withServer({}, async scene => {
    const { server, get, put, chat } = scene
    const path = `/v2/models/${server.model}`
    const first = await step(scene, server.model)
    const atFirst = await logprobsOf(scene, server.model)
    const second = await step(scene, server.model)
    assert.not.equal(await logprobsOf(scene, server.model), atFirst)
    const { status, body } = await put(`${path}/head`, { checkpoint_id: first })
    assert.is(status, 200)
    assert.equal(body, { model: server.model, checkpoint_id: first, dropped: { calls: 0, datums: 0, call_ids: [] } })
    assert.is((await chat({})).body.system_fingerprint, first)
    assert.equal(await logprobsOf(scene, server.model), atFirst)
    const branch = await step(scene, server.model)
    const tree = (await get(`${path}/checkpoints`)).body
    assert.equal(
      tree.map((each: Record<string, unknown>) => [each.id, each.prev_model_checkpoint_id, each.is_active, each.name]),
      [
        [first, null, false, 'step-1'],
        [second, first, false, 'step-2'],
        [branch, first, true, 'step-2'],
      ],
    )
  })
})

test('a branch from the same checkpoint with the same data comes to the same weights: the moments are rolled back too', async () => {
  await withServer({}, async scene => {
    const { server, put } = scene
    const first = await step(scene, server.model)
    await step(scene, server.model)
    const once = await logprobsOf(scene, server.model)
    await put(`/v2/models/${server.model}/head`, { checkpoint_id: first })
    await step(scene, server.model)
    assert.equal(await logprobsOf(scene, server.model), once)
  })
})

test('a change of the head drops what was accumulated and says so; the base can be gone back to by that name', async () => {
  await withServer({}, async scene => {
    const { server, put, train, get, chat } = scene
    const atBase = await logprobsOf(scene, server.model)
    await step(scene, server.model)
    await train('forward-backward', { inputs }, { 'x-troupe-call': 'c7' })
    const { body } = await put(`/v2/models/${server.model}/head`, { checkpoint_id: 'base' })
    assert.equal(body.dropped, { calls: 1, datums: 2, call_ids: ['c7'] })
    assert.is((await train('optim-step', { learning_rate: 0.1 })).status, 409)
    assert.equal((await get(`/v1/models/${server.model}/train/state`)).body.head, null)
    assert.is((await chat({})).body.system_fingerprint, 'base')
    assert.equal(await logprobsOf(scene, server.model), atBase)
    const unknown = await put(`/v2/models/${server.model}/head`, { checkpoint_id: 'nothing' })
    assert.is(unknown.status, 404)
  })
})

test('a fork starts where its source stands, and the two go on apart', async () => {
  await withServer({}, async scene => {
    const { server, post, get } = scene
    const first = await step(scene, server.model)
    const { status, body: fork } = await post(`/v2/models/${server.model}/fork`, { name: 'branch' })
    assert.is(status, 201)
    assert.is(fork.source_checkpoint_id, first)
    assert.is(fork.step, 0)
    assert.equal((await get('/v2/models/branch/checkpoints')).body, [])
    assert.equal(await logprobsOf(scene, 'branch'), await logprobsOf(scene, server.model))
    await step(scene, 'branch')
    assert.not.equal(await logprobsOf(scene, 'branch'), await logprobsOf(scene, server.model))
    assert.is((await get(`/v2/models/${server.model}/checkpoints`)).body.length, 1)
    const { body: again } = await post('/v2/models/fork', { source_model_id: fork.id, name: 'third' })
    assert.is(again.source_model_id, fork.id)
    assert.is((await post(`/v2/models/${server.model}/fork`, { name: 'branch' })).status, 409)
    assert.is((await post(`/v2/models/${server.model}/fork`, { name: 'not a slug' })).status, 400)
    assert.is((await post(`/v2/models/${server.model}/fork`, { name: 'x', checkpoint_id: 'y' })).status, 404)
  })
})

test('models that are not loaded are loaded when asked for, with what was accumulated for them', async () => {
  await withServer({ maxLoaded: 1 }, async scene => {
    const { server, post, samplers, trainers } = scene
    await post(`/v2/models/${server.model}/fork`, { name: 'other' })
    await post(`/v1/models/${server.model}/train/forward-backward`, { inputs })
    const chat = { messages: [{ role: 'user', content: 'x' }] }
    assert.is((await post('/v1/chat/completions', { model: 'other', ...chat })).status, 200)
    assert.is(samplers.length, 2)
    assert.ok(trainers[0]?.calls.includes('close'))
    const { status, body } = await post(`/v1/models/${server.model}/train/optim-step`, { learning_rate: 0.1 })
    assert.is(status, 200)
    const reply = await post('/v1/chat/completions', { model: server.model, ...chat })
    assert.is(reply.body.system_fingerprint, body.checkpoint_id)
  })
})

test('when all loaded models are in use another is told to wait', async () => {
  await withServer({ maxLoaded: 1 }, async ({ server, post, chat, samplers }) => {
    await post(`/v2/models/${server.model}/fork`, { name: 'other' })
    const [sampler] = samplers
    assert.ok(sampler)
    const [held, release] = makeLatch()
    sampler.hold = held
    const busy = chat({})
    while (sampler.open() === 0) await new Promise(setImmediate)
    const reply = await chat({ model: 'other' })
    assert.is(reply.status, 429)
    assert.ok(Number(reply.headers.get('retry-after')) > 0)
    release()
    await busy
    assert.is((await chat({ model: 'other' })).status, 200)
  })
})

test('without a directory only the latest checkpoints keep their weights, and the head always', async () => {
  await withServer({ keep: 2 }, async scene => {
    const { server, put, get } = scene
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) ids.push(await step(scene, server.model))
    const path = `/v2/models/${server.model}`
    const { status, body } = await put(`${path}/head`, { checkpoint_id: ids[0] })
    assert.is(status, 410)
    assert.match(body.detail, /only the latest 2 are kept/)
    assert.is((await get(`${path}/checkpoints`)).body.length, 4)
    assert.is((await put(`${path}/head`, { checkpoint_id: ids[2] })).status, 200)
  })
})

test.run()

import * as assert from 'uvu/assert'
import { Catalog } from '../../src/models/catalog.ts'
import { completeEndpoint } from '../../src/models/complete-endpoint.ts'
import { oneServer } from '../../src/models/endpoint.ts'
import { nearestNames } from '../../src/models/nearest-names.ts'
import { toRetryAfterMs } from '../../src/models/request-names.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { type FakeTrainingServiceOptions, startFakeTrainingService } from '../support/fake-training-service.ts'
import { suite } from '../support/suite.ts'

const test = suite('catalog')
type Service = Awaited<ReturnType<typeof startFakeTrainingService>>

async function withCatalog(
  body: (catalog: Catalog, service: Service) => Promise<void>,
  options: FakeTrainingServiceOptions = {},
): Promise<void> {
  const service = await startFakeTrainingService(options)
  await using catalog = new Catalog(service.endpoint)
  try {
    await body(catalog, service)
  } finally {
    await service.close()
  }
}

test('a slug is resolved once, and an id not at all', () =>
  withCatalog(async (catalog, service) => {
    const { id } = service.model()
    assert.equal(await Promise.all([catalog.resolve('calc-model'), catalog.resolve('calc-model')]), [id, id])
    assert.is(await catalog.resolve('calc-model'), id)
    assert.is(service.count('resolve'), 1)
    assert.is(await catalog.resolve(id.toUpperCase()), id)
    assert.is(service.deliveries.length, 1)
  }))

test('where a service does not resolve, its list does: by slug, by name, without the provider, in any case', () =>
  withCatalog(
    async (catalog, service) => {
      const { id } = service.model('qwen/Qwen3.5-4B')
      for (const name of ['qwen/qwen3.5-4b', 'Qwen3.5-4B', 'QWEN/QWEN3.5-4B'])
        assert.is(await catalog.resolve(name), id)
    },
    { models: ['other', 'qwen/Qwen3.5-4B'], resolves: false },
  ))

test('an unknown model is named with those that are near, and is asked for again next time', () =>
  withCatalog(
    async (catalog, service) => {
      const error = await assertRejects(catalog.resolve('calc-modle'), 'unknown-model', /Did you mean calc-model/)
      assert.equal(error.data.details?.near, ['calc-model'])
      await assertRejects(catalog.resolve('calc-modle'), 'unknown-model')
      assert.is(service.count('resolve'), 2)
      await assertRejects(catalog.checkpoints('zzz'), 'unknown-model', /troupe models list/)
    },
    { models: ['calc-model', 'something-else'] },
  ))

test('the whole list comes, page by page', () =>
  withCatalog(
    async (catalog, service) => {
      const models = await catalog.list()
      assert.is(models.length, 250)
      assert.is(service.count('models'), 3)
      const { id, ...rest } = models[249] ?? { id: '' }
      assert.is(id, service.model('model-249').id)
      assert.equal(rest, {
        name: 'MODEL-249',
        slug: 'model-249',
        provider: 'fake',
        agentType: null,
        isTrainable: true,
      })
    },
    { models: Array.from({ length: 250 }, (_, index) => `model-${index}`) },
  ))

test('a fork is a model of its own, and a name that is taken is refused', () =>
  withCatalog(async (catalog, service) => {
    const forked = await catalog.fork('calc-model', 'mine')
    assert.is(forked.slug, 'mine')
    assert.is(await catalog.resolve('mine'), forked.id)
    assert.equal(service.deliveries.find(({ route }) => route === 'fork')?.body, {
      source_model_id: service.model().id,
      name: 'mine',
    })
    const error = await assertRejects(catalog.fork('calc-model', 'mine'), 'request-refused', /mine already/)
    assert.is(error.data.details?.status, 409)
  }))

test('a checkpoint that is not there cannot be the head', () =>
  withCatalog(async catalog => {
    assert.equal(await catalog.checkpoints('calc-model'), [])
    assert.is(await catalog.head('calc-model'), undefined)
    await assertRejects(catalog.setHead('calc-model', 'nowhere'), 'unknown-checkpoint', /calc-model.*"nowhere"/)
  }))

test("a whole endpoint is taken as it is, a partial one is HUD's for the rest, its key included", () => {
  const env = { HUD_RL_URL: 'https://rl.example/' }
  assert.equal(completeEndpoint(oneServer('http://127.0.0.1:1'), env), oneServer('http://127.0.0.1:1'))
  assert.equal(completeEndpoint({ apiUrl: 'https://api.example' }, env), {
    apiUrl: 'https://api.example',
    rlUrl: 'https://rl.example',
    inferenceUrl: 'https://inference.hud.ai/v1',
    apiKeyVariable: 'HUD_API_KEY',
  })
  assert.is(completeEndpoint({ apiKeyVariable: 'OTHER' }, env).apiKeyVariable, 'OTHER')
})

test('names that differ in more than half of their letters are not near', () => {
  assert.equal(nearestNames('qwen-4b', ['llama-70b', 'Qwen-4B', 'qwen-8b', 'x']), ['Qwen-4B', 'qwen-8b'])
  assert.equal(nearestNames('abc', []), [])
})

test('Retry-After is seconds or a date, and nothing else', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  assert.is(toRetryAfterMs('1.5', now), 1_500)
  assert.is(toRetryAfterMs('Thu, 01 Jan 2026 00:00:10 GMT', now), 10_000)
  for (const header of [undefined, 'soon', '-1']) assert.is(toRetryAfterMs(header, now), undefined)
})

test.run()

import { createServer, type Server } from 'node:http'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli models')

const MODEL = { id: '00000000-0000-0000-0000-000000000001', model_name: 'policy', is_trainable: true }
const FORK = { id: '00000000-0000-0000-0000-000000000002', model_name: 'my-fork', is_trainable: true }
const checkpoint = (id: string, parent: string | null, isActive: boolean) => ({
  id,
  prev_model_checkpoint_id: parent,
  is_active: isActive,
  mean_reward: 0.5,
  learning_rate: 1e-5,
  loss_fn: 'ppo',
  num_datums: 12,
})

/** A catalogue with one model of two checkpoints, of which the second is served until another is asked for. */
let head = ''
let server: Server
let url = ''
test.before(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const reply = answer(`${request.method} ${request.url}`, body)
      response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(reply ?? { detail: 'none' }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
})
test.beforeEach(() => {
  head = 'two'
})
test.after(() => new Promise<void>(resolve => server.close(() => resolve())))

function answer(call: string, body: string): unknown {
  if (call.startsWith('GET /v2/models?')) return { items: [MODEL], total: 1 }
  if (call === 'GET /v2/models/resolve?model=policy') return { id: MODEL.id }
  if (call === 'POST /v2/models/fork') return JSON.parse(body).name === 'my-fork' ? FORK : undefined
  if (call === `GET /v2/models/${MODEL.id}/checkpoints`)
    return [checkpoint('one', null, head === 'one'), checkpoint('two', 'one', head === 'two')]
  if (call === `PUT /v2/models/${MODEL.id}/head`) {
    const wanted: string = JSON.parse(body).checkpoint_id
    if (wanted !== 'one' && wanted !== 'two') return undefined
    head = wanted
    return {}
  }
  return undefined
}

const models = (...argv: readonly string[]) => troupe(['models', ...argv, '--url', url])

test('models are listed and shown with what they serve', async () => {
  assert.match((await models('list')).stdout, /policy .*yes/)
  assert.equal(
    JSON.parse((await models('list', '--json')).stdout).map((model: { slug: string }) => model.slug),
    ['policy'],
  )
  const { stdout, exitCode } = await models('show', 'policy')
  assert.is(exitCode, 0)
  assert.match(stdout, `id ${MODEL.id}`)
  assert.match(stdout, 'serves two')
})

test('a fork prints the slug to train', async () => {
  assert.is((await models('fork', 'policy', 'my-fork')).stdout, 'my-fork\n')
})

test('checkpoints are a tree with the served one marked, and a roll-back moves the mark', async () => {
  assert.match((await models('checkpoints', 'policy')).stdout, /│ \* │ two +│ one/)
  assert.match((await models('head', 'policy')).stdout, /^two /)
  assert.match((await models('head', 'policy', 'one')).stdout, /^one /)
  assert.match((await models('checkpoints', 'policy')).stdout, /│ \* │ one +│ the base/)
})

test('what is not there is named with where to look', async () => {
  const unknown = await models('checkpoints', 'polcy')
  assert.is(unknown.exitCode, 2)
  assert.match(unknown.stderr, 'there is no model "polcy"')
  assert.match(unknown.stderr, 'Did you mean policy')
  const checkpoint = await models('head', 'policy', 'three')
  assert.is(checkpoint.exitCode, 2)
  assert.match(checkpoint.stderr, 'has no checkpoint "three"')
})

test.run()

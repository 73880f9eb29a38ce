import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { type PolicyOptions, type ServedPolicy, servePolicy, startPolicy } from '../../src/policy/host/index.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { writeTinyPolicy } from './tiny-policy.ts'

const test = suite('a policy over HTTP')
const slow = { deadlineMs: 60_000 }

// biome-ignore lint/suspicious/noExplicitAny: a reply's JSON, which each test looks into where it likes.
type Json = any

async function call({ url }: ServedPolicy, method: string, path: string, body?: unknown): Promise<Json> {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const reply: Json = await response.json()
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${JSON.stringify(reply)}`)
  return reply
}

const train = (policy: ServedPolicy, name: string, body: unknown) =>
  call(policy, 'POST', `/v1/models/${policy.model}/train/${name}`, body)

const tools = [
  {
    type: 'function',
    function: {
      name: 'say',
      description: '',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  },
]

/** A turn, and what a trainer is to know of it. */
async function ask(policy: ServedPolicy, seed: number, more: object = {}) {
  const reply = await call(policy, 'POST', '/v1/chat/completions', {
    model: policy.model,
    messages: [{ role: 'user', content: 'hello' }],
    tools,
    seed,
    max_tokens: 6,
    logprobs: true,
    return_token_ids: true,
    ...more,
  })
  const [choice] = reply.choices
  const sample = {
    prompt_token_ids: choice.prompt_token_ids,
    output_token_ids: choice.token_ids,
    output_logprobs: choice.logprobs.content.map((each: { logprob: number }) => each.logprob),
  }
  return { reply, sample }
}

async function withTinyPolicy(
  options: Partial<PolicyOptions>,
  body: (policy: ServedPolicy, directory: string, base: string) => Promise<void>,
): Promise<void> {
  await withFiles({}, async directory => {
    const base = await writeTinyPolicy(directory)
    const policy = await startPolicy({ base, ...options })
    try {
      await body(policy, directory, base)
    } finally {
      await policy.close()
    }
  })
}

test(
  'is sampled, trained and sampled again; log-probabilities are the same on both sides',
  async () => {
    await withTinyPolicy({}, async policy => {
      assert.is(policy.model, 'tiny')
      assert.match(policy.url, /^http:\/\/127\.0\.0\.1:\d+$/)
      const turns = await Promise.all([1, 2, 3, 4, 1].map(seed => ask(policy, seed)))
      const [first, second, third, fourth, again] = turns.map(({ sample }) => sample)
      assert.ok(first && second && third && fourth)
      assert.equal(again, first)
      const inputs = [first, second, third, fourth].map((sample, n) => ({ samples: [sample], reward: n % 2 }))
      const { data } = await train(policy, 'forward', { inputs })
      for (const datum of data)
        for (const [place, logprob] of datum.logprobs.entries())
          assert.ok(Math.abs(logprob - datum.sampling_logprobs[place]) < 1e-4)
      const later = await ask(policy, 9, {
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'x' },
          { role: 'tool', tool_call_id: 'c', content: 'fine' },
        ],
        prompt_token_ids: [...first.prompt_token_ids, ...first.output_token_ids],
        continuation_from: 2,
      })
      assert.ok(later.sample.prompt_token_ids.length > 0)

      const whole = await train(policy, 'forward-backward', { inputs, group_size: 2 })
      assert.is(whole.num_datums, 4)
      const step = await train(policy, 'optim-step', { learning_rate: 0.01 })
      assert.is((await ask(policy, 1)).reply.system_fingerprint, step.checkpoint_id)
      const after = await train(policy, 'forward', { inputs })
      const gain = (n: number) =>
        after.data[n].logprobs.reduce((sum: number, each: number) => sum + each, 0) -
        data[n].logprobs.reduce((sum: number, each: number) => sum + each, 0)
      assert.ok(gain(1) + gain(3) > gain(0) + gain(2))

      await call(policy, 'PUT', `/v2/models/${policy.model}/head`, { checkpoint_id: 'base' })
      assert.equal((await ask(policy, 1)).sample, first)
      await train(policy, 'forward-backward', { inputs: inputs.slice(0, 2), group_size: 2 })
      const rest = await train(policy, 'forward-backward', { inputs: inputs.slice(2), group_size: 2 })
      assert.ok(Number.isFinite(rest.metrics['loss:sum']))
      await train(policy, 'optim-step', { learning_rate: 0.01 })
      const cut = await train(policy, 'forward', { inputs })
      for (const [n, datum] of cut.data.entries())
        for (const [place, logprob] of datum.logprobs.entries())
          assert.ok(Math.abs(logprob - after.data[n].logprobs[place]) < 1e-3, 'chunks change nothing')
    })
  },
  slow,
)

test(
  'data that are kept for several updates report the loss that their gradient would, and are learned from',
  async () => {
    await withTinyPolicy({}, async policy => {
      const samples = await Promise.all([1, 2, 3, 4].map(async seed => (await ask(policy, seed)).sample))
      const inputs = samples.map((sample, n) => ({ samples: [sample], reward: n % 2 }))
      for (const loss of ['importance_sampling', 'ppo', 'cispo', 'dro', 'cross_entropy']) {
        const body = { inputs, group_size: 2, loss_fn: loss }
        const once = await train(policy, 'forward-backward', body)
        await call(policy, 'PUT', `/v2/models/${policy.model}/head`, { checkpoint_id: 'base' })
        const kept = await train(policy, 'forward-backward', { ...body, num_substeps: 2 })
        await call(policy, 'PUT', `/v2/models/${policy.model}/head`, { checkpoint_id: 'base' })
        assert.is(kept.num_datums, once.num_datums)
        for (const [name, value] of Object.entries<number>(once.metrics))
          assert.ok(Math.abs(kept.metrics[name] - value) < 1e-3, `${loss} ${name}: ${kept.metrics[name]}, not ${value}`)
      }
      await train(policy, 'forward-backward', { inputs, group_size: 2, loss_fn: 'ppo', num_substeps: 2 })
      const step = await train(policy, 'optim-step', { learning_rate: 0.01 })
      assert.is(step.step, 1)
    })
  },
  slow,
)

test(
  'a killed process leaves all that was accepted, and every checkpoint is a base',
  async () => {
    await withFiles({}, async root => {
      const base = await writeTinyPolicy(root)
      const directory = join(root, 'kept')
      const host = new URL('../../src/policy/host/index.js', import.meta.url).href
      const program = `
        const { startPolicy } = await import(${JSON.stringify(host)})
        const { url, model } = await startPolicy(${JSON.stringify({ base, directory, name: 'mine' })})
        const post = async (name, body) => {
          const response = await fetch(url + '/v1/models/' + model + '/train/' + name, {
            method: 'POST', headers: { 'content-type': 'application/json', 'x-troupe-call': 'c1' }, body: JSON.stringify(body) })
          if (!response.ok) throw new Error(await response.text())
        }
        const turn = (reward, id) => ({ reward, samples: [{ prompt_token_ids: [1], output_token_ids: [id], output_logprobs: [-5] }] })
        await post('forward-backward', { inputs: [turn(1, 70), turn(0, 71)] })
        await post('optim-step', { learning_rate: 0.01 })
        await post('forward-backward', { inputs: [turn(1, 72), turn(0, 73)] }).catch(() => {})
        await fetch(url + '/v1/models/' + model + '/train/forward-backward', { method: 'POST',
          headers: { 'content-type': 'application/json', 'x-troupe-call': 'c2' }, body: JSON.stringify({ inputs: [turn(1, 72), turn(0, 73)] }) })
        process.stdout.write('accepted')
      `
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise<void>((resolve, reject) => {
        child.stdout.once('data', () => resolve())
        child.once('exit', code => reject(new Error(`ended with ${code}`)))
      })
      const gone = new Promise(resolve => child.once('close', resolve))
      child.kill('SIGKILL')
      await gone
      const policy = await startPolicy({ base, directory })
      try {
        assert.is(policy.model, 'mine')
        const state = await call(policy, 'GET', '/v1/models/mine/train/state')
        assert.is(state.step, 1)
        assert.equal(state.accumulated, { calls: 1, datums: 2, call_ids: ['c2'] })
        assert.is((await train(policy, 'optim-step', { learning_rate: 0.01 })).step, 2)
      } finally {
        await policy.close()
      }
      const [checkpoint = ''] = (await readdir(directory)).filter(name => name.endsWith('.policy'))
      await using other = await startPolicy({ base: join(directory, checkpoint) })
      assert.is((await ask(other, 1)).reply.system_fingerprint, 'base')
    })
  },
  slow,
)

test(
  'what keeps it from starting is said by name: no file, no policy in it, another tokenizer, a port that is taken',
  async () => {
    const refused = async (tag: string, start: Promise<ServedPolicy>) => {
      try {
        await (await start).close()
      } catch (error) {
        assert.ok(hasTag(error, tag), String(error))
        return
      }
      assert.unreachable(`${tag} is missing`)
    }
    await withFiles({ 'no.policy': 'nothing' }, async root => {
      const base = await writeTinyPolicy(root)
      const directory = join(root, 'kept')
      await refused('policy-unreadable', startPolicy({ base: join(root, 'missing') }))
      await refused('policy-unreadable', servePolicy({ base: join(root, 'no.policy') }))
      const policy = await servePolicy({ base, directory })
      try {
        await refused('port-taken', startPolicy({ base, port: Number(new URL(policy.url).port) }))
        await refused('policy-directory-held', startPolicy({ base, directory }))
      } finally {
        await policy.close()
      }
      await refused('wrong-tokenizer', startPolicy({ base: await writeTinyPolicy(root, { merges: 5 }), directory }))
      await refused('other-base', startPolicy({ base: await writeTinyPolicy(root, { seed: 2 }), directory }))
    })
  },
  slow,
)

test.run()

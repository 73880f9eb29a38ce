import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/training/receipt/receipt-file.ts'
import { type CliEnd, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli train embedded')
const SLOW = { deadlineMs: 120_000 }
const ENV = fileURLToPath(new URL('../../../environments/arith/env.ts', import.meta.url))

/** Knows one sum, and is right about it half of the time: the smallest policy with something to learn. */
const demonstrations = (corpus: string) => `
const question = 'What is 2 + 3? Answer with the number alone.'
export default {
  name: 'coin',
  tools: [],
  settings: {
    width: 16, heads: 2, layers: 1, context: 64, merges: 40, steps: 30, batch: 8, learningRate: 0.02, sharpen: 1, seed: 1,
  },
  corpus: () => [question, ${JSON.stringify(corpus)}],
  draw: random => [
    {
      context: [{ role: 'user', content: question }],
      reply: { content: random() < 0.5 ? '5' : '6', toolCalls: [] },
    },
  ],
}`
const TASKS = ['a', 'b', 'c', 'd'].map(slug => ({
  env: 'arith',
  id: 'add',
  slug,
  args: { a: 2, b: 3 },
  columns: { split: slug === 'd' ? 'held-out' : 'train' },
}))

let cwd = ''
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-embedded-'))
  await writeFile(join(cwd, 'tasks.json'), JSON.stringify(TASKS))
  await writeFile(join(cwd, 'coin.js'), demonstrations('5 6'))
  await writeFile(join(cwd, 'other.js'), demonstrations('seven eight nine'))
})
test.after(() => rm(cwd, { recursive: true, force: true }))

const run = (command: string): Promise<CliEnd> => troupe(command.split(' '), { cwd })
const train = (more: string) =>
  run(`train tasks.json --env ${ENV} --unsafe-no-isolation --threads 0 --group 8 --seed 1 ${more}`)

test(
  'a base is made from demonstrations, says what made it, and is not replaced by mistake',
  async () => {
    const made = await run('policy make coin.js --out policy.base')
    assert.is(made.exitCode, 0, made.stderr)
    assert.match(made.stderr, /^30\/30 steps, .*loss \d/m)
    const facts = JSON.parse((await run('policy show policy.base --json')).stdout)
    assert.equal([facts.name, facts.shape.width, facts.made.settings.seed], ['coin', 16, 1])
    assert.match((await run('policy show policy.base')).stdout, 'context 64')
    const again = await run('policy make coin.js --out policy.base')
    assert.is(again.exitCode, 2)
    assert.match(again.stderr, '--force')
  },
  SLOW,
)

test(
  'the embedded policy trains with no key: each job has a copy of the base beside the tasks',
  async () => {
    const { exitCode, stderr, stdout } = await train('--steps 2 --eval-group 8')
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, /^step 2\/2 .*policy 2$/m)
    const receipt = await readReceipt(join(cwd, 'train_run.json'))
    assert.match(receipt.model, /^job-[0-9a-f]{8}$/)
    assert.is(receipt.trainer, 'embedded')
    const versions = receipt.steps.map(row => Object.keys(row.versions))
    assert.not.equal(versions[0], versions[1], 'the second step samples the weights that the first one made')
    assert.equal(await readdir(join(cwd, '.troupe', 'policies')), [receipt.model])
    const checkpoints = await readdir(join(cwd, '.troupe', 'policies', receipt.model))
    assert.is(checkpoints.filter(name => name.startsWith('checkpoint-')).length, 2)
  },
  SLOW,
)

test(
  'a policy that is named goes on from its head, and not with another tokenizer',
  async () => {
    const first = await train('--steps 1 --no-eval --model mine')
    assert.is(first.exitCode, 0, first.stderr)
    const second = await train('--steps 1 --no-eval --model mine')
    assert.match(second.stdout, /^step 1\/1 .*policy 2$/m)
    assert.is((await run('policy make other.js --out other.base --steps 1 --quiet')).exitCode, 0)
    const refused = await train('--steps 1 --no-eval --model mine --base other.base')
    assert.is(refused.exitCode, 2)
    assert.match(refused.stderr, 'tokenizer')
  },
  SLOW,
)

test.run()

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli training bad input')
let cwd = ''
test.before(async () => {
  delete process.env.HUD_API_KEY
  cwd = await mkdtemp(join(tmpdir(), 'troupe-cli-'))
  const row = (slug: string, split: string) => JSON.stringify({ env: 'calc', id: 'fix', slug, columns: { split } })
  await writeFile(join(cwd, 'tasks.jsonl'), `${row('a', 'train')}\n${row('b', 'held-out')}\n`)
  await writeFile(join(cwd, 'held.jsonl'), `${row('a', 'held-out')}\n`)
  await writeFile(join(cwd, 'agent.ts'), 'export default () => ({ name: "none", run: async () => ({}) })')
  await writeFile(join(cwd, 'no.base'), 'no policy')
})
test.after(() => rm(cwd, { recursive: true, force: true }))

/** What is refused, and how: nothing on stdout, exit status 2 and text that ends with the next step. */
const CASES: readonly (readonly [argv: string, message: string])[] = [
  ['train tasks.jsonl --learning-rate 0', "argument '0' is invalid. Write a number above 0."],
  ['train tasks.jsonl --learning-rate -1e-5', 'Write a number above 0.'],
  ['train tasks.jsonl --learning-rate NaN', 'Write a number above 0.'],
  ['train tasks.jsonl --group 1', 'Write a whole number from 2 up.'],
  ['train tasks.jsonl --group 8 --chunk 20', '--chunk 20 is no multiple of --group 8'],
  ['train tasks.jsonl --group 8 --chunk 20', 'Use --chunk 16 or 24.'],
  ['train tasks.jsonl --loss grpo', 'Allowed choices are cross_entropy, importance_sampling, ppo, cispo, dro.'],
  ['train tasks.jsonl --loss-config high', 'Write NAME=NUMBER'],
  ['train tasks.jsonl --chunk-bytes 8MB', 'Write a size such as 8MiB'],
  ['train tasks.jsonl --temperature -1', 'Write a number from 0 up.'],
  [
    'train tasks.jsonl --trainer tinker',
    'Allowed choices are embedded, hud, or a module: trainer.ts, trainer.ts#name.',
  ],
  ['train tasks.jsonl --trainer hud', '--model is missing: the training service needs to know which model.'],
  ['train tasks.jsonl --trainer hud --model m --base b', '--base and --trainer hud do not go together'],
  ['train tasks.jsonl --trainer hud --model m', 'HUD_API_KEY is not set'],
  ['train tasks.jsonl --trainer nowhere.ts', 'there is no file'],
  ['train tasks.jsonl --trainer clever.ts --base b', '--base and --trainer clever.ts do not go together'],
  ['train tasks.jsonl --no-eval --eval-every 2', '--no-eval and --eval-every do not go together'],
  ['train tasks.jsonl --task-ids a,b', 'b would be trained on and measured as held-out'],
  ['train tasks.jsonl --held-out c', 'no task matches "c"'],
  ['train held.jsonl', 'none is "train". Name the tasks to train on with --task-ids.'],
  ['train nowhere.json', 'there are no tasks at nowhere.json'],
  ['train tasks.jsonl --env env.ts', 'there is no base of an embedded policy at'],
  ['train tasks.jsonl --env env.ts', 'policy make DEMONSTRATIONS --out FILE'],
  ['train tasks.jsonl --base no.base', 'there is no env.ts beside the tasks'],
  ['baseline tasks.jsonl agent.ts --model m', '<agent> and --model do not go together'],
  ['baseline tasks.jsonl --agent-config {}', '<agent> is missing: --agent-config is the config of one.'],
  ['baseline tasks.jsonl clever.ts --env env.ts', 'there is no agent "clever.ts"'],
  ['baseline tasks.jsonl --group 1', 'Write a whole number from 2 up.'],
  ['models', 'Usage: troupe models'],
  ['models list', 'HUD_API_KEY holds none'],
  ['models show m --url http://', 'is not the address of a server'],
  ['models fork m', "error: missing required argument 'name'"],
  ['policy serve --base nowhere.base', 'there is no base of an embedded policy at'],
  ['policy make demonstrations.ts', "required option '--out <file>' not specified"],
  ['policy make nowhere.ts --out x.base', 'nowhere.ts'],
  ['policy show nowhere.base', 'nowhere.base'],
]

test(
  'each mistake is named with its next step, before anything is started',
  async () => {
    const waiting = [...CASES]
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await refuse(...next)
    }
    await Promise.all([work(), work(), work()])
  },
  { deadlineMs: 120_000 },
)

test('each command has help with examples, on stdout and with exit status 0', async () => {
  const models = ['list', 'show', 'fork', 'checkpoints', 'head'].map(name => `models ${name}`)
  const policy = ['serve', 'make', 'show'].map(name => `policy ${name}`)
  for (const command of ['train', 'baseline', ...models, ...policy]) {
    const { exitCode, stdout, stderr } = await troupe([...command.split(' '), '--help'])
    assert.equal([exitCode, stderr], [0, ''], command)
    assert.match(stdout, `Usage: troupe ${command}`)
    assert.match(stdout, 'Examples:\n  $ troupe ')
  }
})

async function refuse(line: string, message: string): Promise<void> {
  const { exitCode, stdout, stderr } = await troupe(line.split(' '), { cwd })
  assert.ok(stderr.includes(message), `troupe ${line} said: ${stderr}`)
  assert.is(exitCode, 2, `troupe ${line}: ${stderr}`)
  assert.is(stdout, '', `troupe ${line}`)
}

test.run()

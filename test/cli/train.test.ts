import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { PUBLISHED } from '../../src/training/receipt/published.ts'
import { readReceipt } from '../../src/training/receipt/receipt-file.ts'
import { type CliEnd, resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { type FakeService, startFakeService } from './fake-service.ts'

const test = suite('cli train')
const TASKS = fileURLToPath(new URL('../../../environments/arith/tasks.ts', import.meta.url))
const VARIABLES = ['HUD_API_URL', 'HUD_RL_URL', 'HUD_GATEWAY_URL'] as const

let service: FakeService
let cwd = ''
test.before(async () => {
  service = await startFakeService()
  for (const name of VARIABLES) process.env[name] = service.url
  process.env.HUD_API_KEY = 'of-this-test'
})
test.after(async () => {
  for (const name of VARIABLES) delete process.env[name]
  delete process.env.HUD_API_KEY
  await service.close()
})
test.beforeEach(async () => {
  service.reset()
  cwd = await mkdtemp(join(tmpdir(), 'troupe-train-'))
})
test.afterEach(() => rm(cwd, { recursive: true, force: true }))

const SMALL = '--trainer hud --model adder --task-ids 0-3 --held-out 4-5 --group 4 --chunk 8 --eval-group 2 --seed 3'

function run(command: string, more = '', flags = SMALL): Promise<CliEnd> {
  const argv = `${command} ${TASKS} --unsafe-no-isolation --threads 0 ${flags} ${more}`
  return troupe(
    argv.split(' ').filter(word => word !== ''),
    { cwd },
  )
}

test('a training tells each step, closes with a table, and leaves its receipt and its curve', async () => {
  const { exitCode, stdout, stderr } = await run('train', '--steps 2')
  assert.is(exitCode, 0, stderr)
  const lines = stdout.split('\n')
  assert.match(lines[0] ?? '', /^held-out before training: \d\/4 solved /)
  assert.match(lines[1] ?? '', /^step 1\/2 {2}\d+\/16 solved .* chunks {2}rollouts .* {2}training .* {2}policy 1$/)
  assert.match(lines[2] ?? '', /^step 2\/2 /)
  assert.match(lines[3] ?? '', /^held-out after 2 steps: /)
  assert.match(stdout, 'written: train_run.json, train_curve.svg')
  const receipt = await readReceipt(join(cwd, 'train_run.json'))
  assert.equal([receipt.name, receipt.model, receipt.trainer, receipt.seed], ['arith', 'adder', 'hud', 3])
  assert.equal(receipt.columns, PUBLISHED.columns)
  assert.equal(
    receipt.steps.map(row => [row.step, row.runs, row.status, row.optim_step, row.learning_rate > 0]),
    [
      [0, 16, 'trained', 1, true],
      [1, 16, 'trained', 2, true],
    ],
  )
  assert.equal(
    receipt.evaluations.map(row => [row.after_steps, row.split, row.runs]),
    [
      [0, 'held-out', 4],
      [2, 'held-out', 4],
    ],
  )
  assert.match(await readFile(join(cwd, 'train_curve.svg'), 'utf8'), /^<svg /)
  for (const { inputs, group_size } of service.batches) assert.is(inputs.length % group_size, 0)
})

test('the same command goes on after a stop: nothing is run again, trained on twice or written twice', async () => {
  const optimSteps = () => service.calls.filter(call => call.endsWith('optim-step')).length
  service.failsAt = call => call.endsWith('optim-step') && optimSteps() === 2
  const first = await run('train', '--steps 3')
  assert.is(first.exitCode, 1, first.stderr)
  assert.is((await readReceipt(join(cwd, 'train_run.json'))).steps.length, 1)
  const completions = service.calls.filter(call => call.endsWith('completions')).length
  const trained = service.batches.length
  const second = await run('train', '--steps 3')
  assert.is(second.exitCode, 0, second.stderr)
  assert.match(second.stderr, 'which was interrupted')
  const receipt = await readReceipt(join(cwd, 'train_run.json'))
  assert.equal(
    receipt.steps.map(row => row.step),
    [0, 1, 2],
  )
  assert.ok(service.batches.length - trained <= 2, 'the second step is not sent again')
  // One more step of 16, the evaluation behind it, and the probe at the start.
  assert.is(service.calls.filter(call => call.endsWith('completions')).length - completions, 16 + 4 + 1)
})

test('a model without token ids is refused before anything is rolled out', async () => {
  service.withoutTokens = true
  const { exitCode, stdout, stderr } = await run('train')
  assert.equal([exitCode, stdout], [2, ''])
  assert.match(stderr, 'has no token_ids')
  assert.is(service.calls.filter(call => call.endsWith('completions')).length, 1)
})

test('a model that is not there, and a key that is not, are named', async () => {
  const unknown = await run('train', '', '--trainer hud --model added')
  assert.is(unknown.exitCode, 2)
  assert.match(unknown.stderr, 'there is no model "added"')
  assert.match(unknown.stderr, 'Did you mean adder')
})

test('--json prints what happens and the receipt last; the lines go to stderr, and with --quiet only where the files are', async () => {
  const flags = SMALL.replace(/--held-out \S+|--eval-group \S+/g, '')
  const told = await run('train', '--steps 1 --no-eval --json', flags)
  assert.is(told.exitCode, 0, told.stderr)
  assert.is(resultOf(told.stdout).steps.length, 1)
  const types = told.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).type)
  for (const type of ['engine-started', 'step-began', 'run-ended', 'chunk-trained', 'step-ended', 'progress'])
    assert.ok(types.includes(type), `${type} is missing: ${types}`)
  assert.match(told.stderr, 'step 1/1')
  const quiet = await run('train', '--steps 1 --no-eval --json --quiet --no-journal', flags)
  assert.equal([quiet.exitCode, quiet.stderr], [0, 'written: train_run.json, train_curve.svg\n'])
})

test('a baseline trains nothing and says what could be learned', async () => {
  const { exitCode, stdout, stderr } = await run('baseline', '--group 8', '--trainer hud --model adder --task-ids 0-3')
  assert.is(exitCode, 0, stderr)
  assert.match(stdout, '32 of 32 runs graded')
  assert.match(stdout, /^learnable: \d of 4 groups disagree$/m)
  assert.equal(
    service.calls.filter(call => call.includes('/train/')),
    [],
  )
})

test.run()

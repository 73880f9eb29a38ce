import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/training/receipt/receipt-file.ts'
import { type CliEnd, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli train with a trainer of one’s own')
const SLOW = { deadlineMs: 120_000 }
const inRepository = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
const ARITH = inRepository('environments/arith')

/** The embedded policy behind the smallest contract: no tree of checkpoints, no count of calls; and it says when it is closed. */
const WRAPPED = `
import { defineTrainer, TrainingClient } from 'troupe'
import { startPolicy } from 'troupe/policy'
export const small = defineTrainer(async ({ model }) => {
  const policy = await startPolicy({ base: ${JSON.stringify(join(ARITH, 'policy.base'))} })
  const client = new TrainingClient(policy)
  let isOpen = true
  const trainer = {
    model: policy.model,
    forwardBackward: (runs, options) => client.forwardBackward(runs, options),
    optimStep: async options => ({ policyVersion: (await client.optimStep(options)).policyVersion }),
    policyVersion: () => client.policyVersion(),
    async close() {
      if (!isOpen) return
      isOpen = false
      await client.close()
      await policy.close()
      console.error('closed', model)
    },
  }
  return { trainer, served: { inferenceUrl: policy.endpoint.inferenceUrl } }
})
export const nothing = () => ({})
export const bare = () => ({ trainer: { model: 'm', optimStep() {} } })
export const failing = defineTrainer(() => { throw new Error('the service is away') })
`

let cwd = ''
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-own-'))
  await writeFile(join(cwd, 'wrapped.ts'), WRAPPED)
})
test.after(() => rm(cwd, { recursive: true, force: true }))

const train = (trainer: string, ...more: string[]): Promise<CliEnd> =>
  troupe(
    [
      'train',
      join(ARITH, 'tasks.ts'),
      '--trainer',
      trainer,
      '--unsafe-no-isolation',
      '--threads',
      '1',
      '--seed',
      '1',
      '--no-eval',
      ...more,
    ],
    { cwd },
  )

test(
  'the example trains from the command line, with its own agent in a thread, and learns',
  async () => {
    const example = inRepository('examples/http-trainer.ts')
    const more = ['--task-ids', '0-7', '--steps', '3', '--group', '8', '--learning-rate', '0.05']
    const { exitCode, stdout, stderr } = await train(example, ...more)
    assert.is(exitCode, 0, stderr)
    const receipt = await readReceipt(join(cwd, 'train_run.json'))
    assert.equal([receipt.trainer, receipt.model], [example, 'softmax'])
    const rates = receipt.steps.map(step => step.pass_rate)
    assert.is(rates.length, 3)
    assert.ok((rates[0] ?? 1) < 0.5 && (rates[2] ?? 0) > 0.7, rates.join(' '))
    assert.match(stdout, /^step 3\/3 .*policy 3$/m)
  },
  SLOW,
)

test(
  'a policy that is served trains through the chat agent, with nothing but the smallest contract behind it',
  async () => {
    const { exitCode, stdout, stderr } = await train(
      'wrapped.ts#small',
      '--task-ids',
      '0-3',
      '--steps',
      '2',
      '--group',
      '4',
      '--model',
      'mine',
    )
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, /^step 2\/2 .*policy 2$/m)
    assert.is(stderr.split('closed mine').length, 2, 'closed, and once')
  },
  SLOW,
)

test(
  'what is no trainer is refused with what it lacks, before anything is started',
  async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['wrapped.ts', 'has no function "default" that makes a trainer; it exports'],
      ['wrapped.ts#bare', 'trainer.forwardBackward, trainer.policyVersion, served.inferenceUrl (or agent) are missing'],
      ['wrapped.ts#nothing', 'trainer is missing'],
      ['wrapped.ts#failing', 'the service is away'],
      ['nowhere.ts', 'there is no file'],
    ]
    for (const [trainer, says] of cases) {
      const { exitCode, stdout, stderr } = await train(trainer)
      assert.is(exitCode, trainer === 'wrapped.ts#failing' ? exitCode : 2, `${trainer}: ${stderr}`)
      assert.is.not(exitCode, 0)
      assert.is(stdout, '')
      assert.ok(stderr.includes(says), `${trainer}: ${stderr}`)
    }
  },
  SLOW,
)

test.run()

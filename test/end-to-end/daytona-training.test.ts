/** A short training of the shipped policy on the shipped tasks, every sandbox of it at the emulator. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/training/receipt/index.ts'
import { suite } from '../support/suite.ts'
import { withDaytona } from './daytona-scene.ts'
import { repository } from './scene.ts'

const test = suite('training on daytona, end to end')

const TASKS = 2
const GROUP = 4
const STEPS = 2

test(
  'from the Dockerfile to two new versions of the policy, and nothing is left',
  () =>
    withDaytona({ directory: repository }, async ({ scene, emulator, run, state }) => {
      const { exit, stdout, stderr } = await run([
        'train',
        join(repository, 'environments/calc'),
        ...['--runtime', 'daytona', '--pool', '32', '--image', join(repository, 'Dockerfile.hud')],
        ...['--env', 'environments/calc/env.ts', '--task-ids', `0-${TASKS - 1}`, '--group', String(GROUP)],
        ...['--steps', String(STEPS), '--no-eval', '--seed', '1', '--threads', '1'],
      ])
      assert.is(exit, 0, stderr)
      assert.match(stderr, 'snapshot troupe-calc, built from ')
      assert.match(stderr, /Step \d+\/\d+ : CMD .*environments\/calc\/env\.ts/)
      assert.match(stdout, /^step 2\/2 .*policy 2$/m)

      const { steps, trainer } = await readReceipt(join(scene.directory, 'train_run.json'))
      assert.is(trainer, 'embedded')
      assert.equal(
        steps.map(({ status, runs, errored, optim_step }) => ({ status, runs, errored, optim_step })),
        [1, 2].map(optim_step => ({ status: 'trained', runs: TASKS * GROUP, errored: 0, optim_step })),
      )
      const [first, second] = steps.map(({ versions }) => Object.keys(versions))
      assert.not.equal(first, second, 'the second step samples the weights that the first one made')

      assert.ok(emulator.counts.created >= STEPS * TASKS * GROUP, 'a sandbox for each rollout')
      assert.is(emulator.counts.failed, 0)
      const { existing, pools } = await state()
      assert.equal([existing, pools], [0, 0])
    }),
  { deadlineMs: 240_000 },
)

test.run()

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/training/receipt/index.ts'
import { repository, type Scene, until, withScene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'

const test = suite('a training that is asked to end')

const STEPS = 3

const command = (name: string) => [
  'train',
  join(repository, 'environments/arith'),
  ...[
    '--steps',
    String(STEPS),
    '--group',
    '4',
    '--task-ids',
    '0-5',
    '--no-eval',
    '--learning-rate',
    '2e-3',
    '--seed',
    '4',
  ],
  ...['--threads', '1', '--out', name, '--journal', join(name, 'journal'), '--policies', join(name, 'policies')],
]

async function figuresOf(scene: Scene, name: string) {
  const { steps } = await readReceipt(join(scene.directory, name, 'train_run.json'))
  return steps.map(({ step, runs, solved, samples, tokens, loss, datums, chunks, optim_step }) => {
    return { step, runs, solved, samples, tokens, loss, datums, chunks, optim_step }
  })
}

/** Sends the signal in the rollouts that follow a step's line, and waits for the end. */
async function endAfterStep(scene: Scene, step: number, signal: NodeJS.Signals): Promise<void> {
  const cli = scene.start(command('cut'))
  await until(
    () => cli.stdout().includes(`step ${step}/`),
    () => cli.stderr(),
    90_000,
  )
  cli.child.kill(signal)
  assert.is(await cli.ended, 130, cli.stderr())
  assert.match(cli.stderr(), /ending in order/)
  assert.match(cli.stderr(), /the same command goes on with job-/)
  assert.equal(scene.leftovers(), [], `${signal}: processes, directories and sockets are gone when it has ended`)
}

test(
  'by SIGTERM or by SIGINT ends in order and leaves nothing; the same command goes on to the end of one that nobody asked',
  () =>
    withScene(async scene => {
      const whole = await scene.run(command('whole'))
      assert.is(whole.exit, 0, whole.stderr)
      await endAfterStep(scene, 1, 'SIGTERM')
      await endAfterStep(scene, 2, 'SIGINT')
      const { exit, stderr } = await scene.run(command('cut'))
      assert.is(exit, 0, stderr)
      assert.match(stderr, /going on with job-/)
      assert.equal(await figuresOf(scene, 'cut'), await figuresOf(scene, 'whole'))
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 200_000 },
)

test.run()

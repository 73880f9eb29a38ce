import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/training/receipt/index.ts'
import { suite } from '../support/suite.ts'
import { repository, type Scene, until, withScene } from './scene.ts'

const test = suite('training that is killed, end to end')

const STEPS = 5
const TASKS = join(repository, 'environments/arith')

const command = (out: string) => [
  'train',
  TASKS,
  ...['--steps', String(STEPS), '--eval-group', '2', '--held-out', '12-15', '--task-ids', '0-11'],
  ...['--learning-rate', '2e-3', '--seed', '4', '--threads', '1', '--out', out],
]

/** What a training learned from what, apart from how long it took and under which names. */
async function figuresOf(scene: Scene, out: string) {
  const { steps, evaluations } = await readReceipt(join(scene.directory, out, 'train_run.json'))
  return {
    steps: steps.map(({ step, runs, solved, samples, tokens, loss, datums, chunks, optim_step }) => {
      return { step, runs, solved, samples, tokens, loss, datums, chunks, optim_step }
    }),
    evaluations: evaluations.map(({ after_steps, solved, runs }) => ({ after_steps, solved, runs })),
  }
}

test(
  'after kill -9 the same command goes on, and ends where an uninterrupted training does',
  () =>
    withScene(async scene => {
      const whole = await scene.run([...command('whole'), '--journal', 'j1', '--policies', 'p1'])
      assert.is(whole.exit, 0, whole.stderr)

      const argv = [...command('cut'), '--journal', 'j2', '--policies', 'p2']
      const killed = scene.start(argv)
      await until(
        async () => killed.stdout().includes('step 2/'),
        () => killed.stderr(),
      )
      killed.child.kill('SIGKILL')
      assert.is(await killed.ended, 'SIGKILL')
      await until(
        () => scene.leftovers().length === 0,
        () => scene.leftovers().join('\n'),
      )
      const { exit, stderr } = await scene.run(argv)
      assert.is(exit, 0, stderr)
      assert.match(stderr, /going on with job-/)

      const figures = await figuresOf(scene, 'cut')
      assert.is(figures.steps.length, STEPS)
      assert.equal(figures, await figuresOf(scene, 'whole'))
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 120_000 },
)

test.run()

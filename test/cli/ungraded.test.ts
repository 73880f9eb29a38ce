import * as assert from 'uvu/assert'
import { type Scene, withScene } from '../end-to-end/scene.ts'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli and runs without a grade')

const argv = ({ directory }: Scene, config: Readonly<Record<string, unknown>>, ...more: string[]) => {
  const agentConfig = JSON.stringify({ directory, ...config })
  return ['eval', 'tasks.ts', 'agent.mjs', '--threads', '1', '--agent-config', agentConfig, '--json', ...more]
}

test(
  'they cost the exit status and are told; --ungraded-of runs their tasks alone, and nothing where all have one',
  () =>
    withScene(async scene => {
      const first = await scene.run(argv(scene, { deadly: '1' }, '--all', '--group', '2'))
      const { jobId, runs, passRate } = resultOf(first.stdout)
      assert.is(first.exit, 1, first.stderr)
      assert.equal(
        [runs.planned, runs.graded, passRate],
        [6, 4, 1],
        'a rate of what was graded, beside how much that was',
      )
      assert.match(first.stderr, `2 of 6 runs have no grade`)
      assert.match(first.stderr, `--ungraded-of ${jobId}`)

      const again = await scene.run(argv(scene, {}, '--ungraded-of', jobId, '--group', '2'))
      const report = resultOf(again.stdout)
      assert.is(again.exit, 0, again.stderr)
      assert.equal(
        report.variants.map((variant: { readonly label: string }) => variant.label).length,
        1,
        'one task of three',
      )
      assert.equal([report.runs.planned, report.runs.graded], [2, 2])

      const none = await scene.run(argv(scene, {}, '--ungraded-of', report.jobId))
      assert.equal([none.exit, none.stdout], [2, ''])
      assert.match(none.stderr, `every run of ${report.jobId} that is in the journal has a grade`)
      for (const [wrong, says] of [
        [['--all'], /--ungraded-of and --all or --task-ids do not go together/],
        [['--no-journal'], /--ungraded-of and --no-journal do not go together/],
      ] as const) {
        const refused = await scene.run(argv(scene, {}, '--ungraded-of', jobId, ...wrong))
        assert.is(refused.exit, 2)
        assert.match(refused.stderr, says)
      }
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 180_000 },
)

test.run()

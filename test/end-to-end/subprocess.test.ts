import * as assert from 'uvu/assert'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withScene } from './scene.ts'

const test = suite('the subprocess runtime, end to end')

test(
  'every rollout has a host of its own, is graded, and leaves nothing',
  () =>
    withScene(async scene => {
      const { exit, stdout, stderr } = await scene.run(scene.notes({}, '--runtime', 'subprocess', '--seed', '1'))
      assert.is(exit, 0, stderr)
      const { runs } = resultOf(stdout)
      assert.equal([runs.planned, runs.graded], [3, 3])
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test.run()

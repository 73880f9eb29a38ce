import * as assert from 'uvu/assert'
import { until, withScene } from '../end-to-end/scene.ts'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('a second engine on a journal')

test(
  "is refused with the owner's pid, rolls out nothing, and takes nothing from the first",
  () =>
    withScene(async scene => {
      const argv = scene.notes({ hold: [1] }, '--seed', '1')
      const first = scene.start(argv)
      await until(
        async () => scene.starts().length === 3 && (await scene.durable()).length === 2,
        () => `${scene.starts()} ${first.stderr()}`,
      )
      const second = await scene.run(argv)
      assert.is(second.exit, 2, second.stderr)
      assert.match(second.stderr, new RegExp(`is held by process ${first.child.pid} since .*give another directory`))
      assert.is(scene.starts().length, 3, 'it has rolled out nothing')

      scene.go()
      assert.is(await first.ended, 0, first.stderr())
      const { runs } = resultOf(first.stdout())
      assert.equal([runs.planned, runs.graded], [3, 3])
      assert.is((await scene.durable()).length, 3)
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test(
  'is refused as well while the first only stands still, and gets it when that was killed',
  () =>
    withScene(async scene => {
      const argv = scene.notes({ hold: [1] }, '--seed', '1')
      const first = scene.start(argv)
      await until(
        async () => scene.starts().length === 3 && (await scene.durable()).length === 2,
        () => `${scene.starts()} ${first.stderr()}`,
      )
      first.child.kill('SIGSTOP')
      const early = await scene.run(argv)
      assert.is(early.exit, 2, 'a process that stands still may go on at any time')
      assert.match(early.stderr, new RegExp(`process ${first.child.pid}`))
      first.child.kill('SIGKILL')
      assert.is(await first.ended, 'SIGKILL')
      scene.go()
      const { exit, stdout, stderr } = await scene.run(argv)
      assert.is(exit, 0, stderr)
      assert.is(resultOf(stdout).runs.recalled, 2)
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test.run()

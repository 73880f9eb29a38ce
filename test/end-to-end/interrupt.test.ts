import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { type Cli, type Scene, until, withScene } from './scene.ts'

const test = suite('Ctrl-C, end to end')

async function untilHalf(scene: Scene, cli: Cli): Promise<void> {
  await until(
    async () => scene.starts().length === 3 && (await scene.durable()).length === 2,
    () => `${scene.starts()} ${cli.stderr()}`,
  )
}

test(
  'once: what is finished is kept and told, and the same command goes on',
  () =>
    withScene(async scene => {
      const argv = scene.notes({ hold: [1] }, '--seed', '1')
      const first = scene.start(argv)
      await untilHalf(scene, first)
      first.child.kill('SIGINT')
      assert.is(await first.ended, 130, first.stderr())
      assert.match(first.stderr(), /ending in order; press Ctrl-C again/)
      assert.match(
        first.stderr(),
        /2 finished rollouts are kept, 1 are still to be done; they are in .*\.troupe\/journal/,
      )
      assert.is(resultOf(first.stdout()).runs.graded, 2)
      assert.is((await scene.durable()).length, 2)
      assert.equal(scene.leftovers(), [])

      scene.go()
      const { exit, stdout, stderr } = await scene.run(argv)
      assert.is(exit, 0, stderr)
      assert.equal([resultOf(stdout).runs.graded, resultOf(stdout).runs.recalled], [3, 2])
      assert.is(scene.starts().length, 4)
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test(
  'twice: it ends at once, and no sandbox is left',
  () =>
    withScene(async scene => {
      // An environment that takes its time to end a session, so that ending in order does.
      const tasks = `import { note } from './env.ts'\nexport default [0, 1, 2].map(n => note({ n, slowEndMs: n === 1 ? 4_000 : 0 }))`
      await writeFile(join(scene.directory, 'tasks.ts'), tasks)
      const cli = scene.start(scene.notes({ hold: [1], command: 'sleep 600 >/dev/null 2>&1 &' }, '--seed', '1'))
      await untilHalf(scene, cli)
      cli.child.kill('SIGINT')
      await until(
        () => cli.stderr().includes('press Ctrl-C again'),
        () => cli.stderr(),
      )
      cli.child.kill('SIGINT')
      assert.is(await cli.ended, 130, cli.stderr())
      assert.match(cli.stderr(), /ending at once/)
      await until(
        () => scene.leftovers().length === 0,
        () => scene.leftovers().join('\n'),
      )
      assert.is((await scene.durable()).length, 2)
    }),
  { deadlineMs: 60_000 },
)

test.run()

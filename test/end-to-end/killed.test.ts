import * as assert from 'uvu/assert'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { type Scene, until, withScene } from './scene.ts'

const test = suite('engine that is killed, end to end')

async function startAndHold(scene: Scene) {
  const argv = scene.notes({ hold: [1] }, '--group', '2', '--seed', '1')
  const engine = scene.start(argv)
  await until(
    async () => scene.starts().length === 6 && (await scene.durable()).length === 4,
    () => `${scene.starts()} ${engine.stderr()}`,
  )
  return { argv, engine }
}

async function goOn(scene: Scene, argv: readonly string[]): Promise<void> {
  scene.go()
  const { exit, stdout, stderr } = await scene.run(argv)
  assert.is(exit, 0, stderr)
  assert.match(stderr, /going on with job-/)
  const { runs, groups } = resultOf(stdout)
  assert.equal([runs.planned, runs.graded, runs.recalled, groups.complete], [6, 6, 4, 3])
  const starts = scene.starts()
  assert.is(starts.length, 8, 'only the two that were in flight began again')
  for (const n of [0, 2]) assert.is(starts.filter(line => line.startsWith(`note ${n}.`)).length, 2)
  assert.is((await scene.durable()).length, 6)
  assert.equal(scene.leftovers(), [])
}

test(
  'its host ends by itself and cleans up, and the same command goes on',
  () =>
    withScene(async scene => {
      const { argv, engine } = await startAndHold(scene)
      engine.child.kill('SIGKILL')
      assert.is(await engine.ended, 'SIGKILL')
      await until(
        () => scene.leftovers().length === 0,
        () => scene.leftovers().join('\n'),
      )
      await goOn(scene, argv)
    }),
  { deadlineMs: 60_000 },
)

test(
  'its host ends and cleans up also where it was stopped, and the same command goes on',
  () =>
    withScene(async scene => {
      const { argv, engine } = await startAndHold(scene)
      process.kill(scene.host(), 'SIGSTOP')
      engine.child.kill('SIGKILL')
      assert.is(await engine.ended, 'SIGKILL')
      await until(
        () => scene.leftovers().length === 0,
        () => scene.leftovers().join('\n'),
      )
      await goOn(scene, argv)
    }),
  { deadlineMs: 60_000 },
)

test(
  'with its host killed too, the next start removes what both left, and nothing of those that live',
  () =>
    withScene(async scene => {
      const { argv, engine } = await startAndHold(scene)
      // Stopped, so that it does not clean up after its host.
      engine.child.kill('SIGSTOP')
      process.kill(scene.host(), 'SIGKILL')
      engine.child.kill('SIGKILL')
      await engine.ended
      await until(
        () => scene.processes().length === 0,
        () => scene.leftovers().join('\n'),
      )
      assert.is(scene.leftovers().length, 1, 'its directory is left')
      await goOn(scene, argv)
    }),
  { deadlineMs: 60_000 },
)

test.run()

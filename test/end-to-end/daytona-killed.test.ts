/** Engines that end otherwise than they should, each a process of its own: what is left at the emulator, and what `troupe reap` makes of it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts'
import { listSandboxes } from '../../src/runtimes/daytona/account/list-sandboxes.ts'
import { openAccount } from '../../src/runtimes/daytona/account/open-account.ts'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { type DaytonaScene, SNAPSHOT, withDaytona } from './daytona-scene.ts'
import { type Cli, type Scene, until } from './scene.ts'

const test = suite('engine on daytona that is killed, end to end')
const SLOW = { deadlineMs: 240_000 }
/** For an engine and an environment to start. */
const HOLD_MS = 60_000

/** Of three tasks: one is worked on, the others wait. */
const RUNS = 12
const WIDE = 4
/** One that runs says whose the provider's pool is. */
const ANCHOR = 1

const serving = (scene: Scene): EmulatorOptions => ({ environmentPath: join(scene.directory, 'env.ts') })

/** `eval` of notes whose agents all wait, with sandboxes held ready from a pool that the provider keeps. */
const evaluation = (scene: Scene, ...more: string[]) =>
  scene.notes(
    { hold: [0, 1, 2] },
    ...['--runtime', 'daytona', '--snapshot', SNAPSHOT, '--env', 'env.ts', '--seed', '1'],
    ...['--group', String(WIDE), '--max-concurrent', String(WIDE), ...more],
  )

interface Held {
  /** Under rollouts, or ready for those to come. */
  readonly sandboxes: number
  /** In the provider's pool. */
  readonly members: number
}

/** Sandboxes for all of its runs, whether they wait in agents or are ready. */
const DOOMED: Held = { sandboxes: RUNS, members: 8 }
const LIVING: Held = { sandboxes: WIDE + 4, members: 4 }
const countOf = ({ sandboxes, members }: Held) => sandboxes + members + ANCHOR

/** Starts an engine and waits until it holds all that it is going to, beside `others`. */
async function startAndHold(
  { scene, start, state }: DaytonaScene,
  argv: readonly string[],
  held: Held,
  others: readonly Held[] = [],
  foreign = 0,
): Promise<Cli> {
  const all = [held, ...others]
  const engine = start(argv)
  const isThere = async () => {
    const { existing, unclaimed } = await state()
    const wanted = all.reduce((sum, each) => sum + countOf(each), foreign)
    return (
      scene.starts().length === WIDE * all.length &&
      existing === wanted &&
      unclaimed === all.reduce((sum, { members }) => sum + members, 0)
    )
  }
  await until(isThere, () => `${scene.starts().length} agents began; ${engine.stderr()}`, HOLD_MS)
  return engine
}

test(
  'reap lists what a killed one left, deletes it when told to, and spares the living and the foreign',
  () =>
    withDaytona(serving, async daytona => {
      const { scene, emulator, run, state } = daytona
      await withAccount(emulator, async ({ sandboxes }) => {
        await sandboxes.createSandbox({ name: 'of-others', labels: { team: 'others' } })
        await sandboxes.createSandbox({ name: 'of-nobody' })
      })
      const argv = evaluation(scene, '--pool', '16+provider-pool:8', '--journal', 'doomed')
      const doomed = await startAndHold(daytona, argv, DOOMED, [], 2)
      const living = await startAndHold(
        daytona,
        evaluation(scene, '--pool', '4+provider-pool:4', '--journal', 'living', '--region', 'eu'),
        LIVING,
        [DOOMED],
        2,
      )
      doomed.child.kill('SIGKILL')
      assert.is(await doomed.ended, 'SIGKILL')

      const { exit, stdout, stderr } = await run(['reap', '--json'])
      assert.is(exit, 0, stderr)
      const kinds = stdout
        .trim()
        .split('\n')
        .map(line => String(JSON.parse(line).kind))
      const found = (kind: string) => kinds.filter(each => each === kind).length
      assert.equal(['sandbox', 'pool', 'pool-member', 'pool-anchor'].map(found), [
        DOOMED.sandboxes,
        1,
        DOOMED.members,
        ANCHOR,
      ])
      assert.is(emulator.existing(), countOf(DOOMED) + countOf(LIVING) + 2, 'it only lists')

      const deleted = await run(['reap', '--delete'])
      assert.is(deleted.exit, 0, deleted.stderr)
      assert.is(emulator.existing(), countOf(LIVING) + 2)
      assert.is((await state()).pools, 1)
      assert.match((await run(['reap', '--delete'])).stderr, 'nothing is left over')

      scene.go()
      assert.is(await living.ended, 0, living.stderr())
      assert.is(resultOf(living.stdout()).runs.graded, RUNS)
      const left = await withAccount(emulator, listSandboxes)
      assert.equal(left.map(({ name }) => name).sort(), ['of-nobody', 'of-others'])
      assert.is((await state()).pools, 0)
      await goOn(daytona, argv, 2)
    }),
  SLOW,
)

test(
  'Ctrl-C once: it ends in order, and nothing is left, of the provider’s pool neither',
  () =>
    withDaytona(serving, async daytona => {
      const argv = evaluation(daytona.scene, '--pool', '16+provider-pool:8')
      const engine = await startAndHold(daytona, argv, DOOMED)
      engine.child.kill('SIGINT')
      assert.is(await engine.ended, 130, engine.stderr())
      assert.match(engine.stderr(), /ending in order; press Ctrl-C again/)
      const { existing, pools } = await daytona.state()
      assert.equal([existing, pools], [0, 0])
      assert.match((await daytona.run(['reap'])).stderr, 'nothing is left over')
      daytona.scene.go()
      await goOn(daytona, argv)
    }),
  SLOW,
)

test(
  'Ctrl-C twice: it ends at once, and what it could not give back is reaped',
  () =>
    withDaytona(serving, async daytona => {
      const { scene, run, state } = daytona
      // An environment that takes its time to end a session, so that ending in order does.
      const tasks = `import { note } from './env.ts'\nexport default [0, 1, 2].map(n => note({ n, slowEndMs: 4_000 }))`
      await writeFile(join(scene.directory, 'tasks.ts'), tasks)
      const argv = evaluation(scene, '--pool', '16+provider-pool:8')
      const engine = await startAndHold(daytona, argv, DOOMED)
      engine.child.kill('SIGINT')
      await until(
        () => engine.stderr().includes('press Ctrl-C again'),
        () => engine.stderr(),
      )
      engine.child.kill('SIGINT')
      assert.is(await engine.ended, 130, engine.stderr())
      assert.match(engine.stderr(), /ending at once/)

      const { exit, stderr } = await run(['reap', '--delete'])
      assert.is(exit, 0, stderr)
      const { existing, pools } = await state()
      assert.equal([existing, pools], [0, 0], stderr)
      scene.go()
      await goOn(daytona, argv)
    }),
  SLOW,
)

/** The same command does what is still to be done, removes what the killed process left on this machine, and leaves nothing. */
async function goOn({ emulator, run }: DaytonaScene, argv: readonly string[], others = 0): Promise<void> {
  const { exit, stdout, stderr } = await run(argv)
  assert.is(exit, 0, stderr)
  assert.match(stderr, /going on with job-/)
  assert.is(resultOf(stdout).runs.graded, RUNS)
  assert.is(emulator.existing(), others)
}

async function withAccount<Value>(
  { apiKey, url }: Emulator,
  body: (account: Awaited<ReturnType<typeof openAccount>>) => Promise<Value>,
): Promise<Value> {
  const account = await openAccount({ apiKey, apiUrl: url, clock: systemClock })
  try {
    return await body(account)
  } finally {
    await account.release()
  }
}

test.run()

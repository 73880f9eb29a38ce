/**
 * Creates and forks with faults on, through the real pools and the real runtime: every sandbox is accounted for, none is given to two.
 * `TROUPE_DAYTONA_CREATES=2000` asks for more than the suite does, `TROUPE_DAYTONA_SEED` for other faults.
 */
import * as assert from 'uvu/assert'
import type { Fault } from '../../src/emulator/index.ts'
import { toErrorData } from '../../src/errors.ts'
import type { SandboxId } from '../../src/ids.ts'
import { listSandboxes } from '../../src/runtimes/daytona/account/list-sandboxes.ts'
import type { DaytonaRuntime } from '../../src/runtimes/daytona/daytona-runtime.ts'
import { toSandboxName } from '../../src/runtimes/daytona/labels.ts'
import { openDaytonaScene, withAccount } from '../runtimes/daytona/daytona-scene.ts'
import { suite } from '../support/suite.ts'
import { openLeases } from './daytona-leases.ts'
import { makeHastyClock } from './hasty-clock.ts'
import { until } from './scene.ts'

const test = suite('daytona creates with faults, end to end')

const CREATES = Number(process.env.TROUPE_DAYTONA_CREATES ?? 600)
const SEED = Number(process.env.TROUPE_DAYTONA_SEED ?? 7)
const FAULTS: readonly Fault[] = [
  { kind: 'too-many-requests', share: 0.001 },
  { kind: 'server-error', share: 0.005 },
  { kind: 'toolbox-error', share: 0.005 },
  { kind: 'reset-create', share: 0.02 },
  { kind: 'reset', share: 0.005 },
  { kind: 'create-error', share: 0.01 },
  { kind: 'lost', share: 0.02 },
  { kind: 'stuck-deleting', share: 0.005 },
  { kind: 'slow-boot', share: 0.02 },
]
/** Of requests; each has three attempts. Faults alone refuse fewer than one in a hundred; a machine that is busy with more lets deadlines pass. */
const MOST_REFUSED = 0.2

test(
  `of ${CREATES} creates and forks every sandbox is accounted for, and none is leased twice`,
  async () => {
    const clock = makeHastyClock()
    const scene = await openDaytonaScene(
      { clock },
      { speed: 60, seed: SEED, limits: { 'sandbox-create': 1_000_000 }, onError: error => problems.push(error) },
    )
    const problems: unknown[] = []
    const { emulator } = scene
    const creating = scene.makeRuntime({ transport: 'websocket' })
    const forking = scene.makeRuntime({ transport: 'ssh' })
    const leases = Math.ceil(CREATES / 2)
    const { book, reports, letters, ...pools } = openLeases(
      [
        { runtime: creating, source: { type: 'create' }, size: 32, leases, wide: 64 },
        { runtime: forking, source: { type: 'fork', parents: 4 }, size: 32, leases, wide: 64 },
      ],
      clock,
      SEED,
    )
    try {
      await Promise.all([creating.preflight(), forking.preflight()])
      for (const fault of FAULTS) emulator.faults.set(fault)
      const startedAt = performance.now()
      await pools.leaseAll()
      const tookMs = Math.round(performance.now() - startedAt)
      console.log(
        `seed ${SEED}, ${tookMs} ms, ${JSON.stringify({ ...emulator.counts, struck: emulator.faults.struck })}`,
      )

      // Every request was answered once, and no sandbox given to two.
      assert.equal(book.problems, [])
      assert.equal(book.open(), [])
      assert.equal([book.asked, letters], [2 * leases, []])
      assert.ok(book.refused.length <= MOST_REFUSED * CREATES, JSON.stringify(book.refused))
      assert.is(book.given.size, book.asked - book.refused.length)

      const drained = await pools.drain()
      const stuck = emulator.faults.struck['stuck-deleting'] ?? 0
      const held = async () => (await pools.stats()).reduce((sum, { quarantined }) => sum + quarantined, 0)
      // A delete that is slow, and not stuck, comes through after all.
      await until(
        async () => emulator.existing() === stuck && (await held()) === stuck,
        () => `${stuck} stuck, ${emulator.existing()} exist, the pools had ${JSON.stringify(drained)}`,
      )
      const figures = await pools.stats()
      const created = sum(figures.map(each => each.created))
      const gone = sum(figures.map(each => each.gone))
      assert.is(created, gone + stuck, 'the pools have lost none')
      assert.ok(created >= emulator.counts.created, 'whatever was made, a pool had asked for it')
      assert.is(emulator.counts.created, emulator.counts.deleted + stuck)
      const left = await withAccount(scene, listSandboxes)
      const named = new Set(reports.map(({ address }) => toSandboxName(address as SandboxId)))
      assert.equal(
        left.filter(({ name, state }) => state !== 'destroying' || !named.has(name)),
        [],
        'what is left would not die, and was reported by its name',
      )
      assert.equal(
        left.map(({ name }) => name).sort(),
        drained
          .flatMap(({ quarantined }) => quarantined.map(toSandboxName))
          .filter(name => left.some(each => each.name === name))
          .sort(),
      )

      clock.hurry(8)
      const told = await Promise.all([creating, forking].map(namesLeftBy))
      assert.equal(told.flat().sort(), left.map(({ name }) => name).sort())
      assert.equal(problems, [])
    } finally {
      clock.hurry(8)
      await pools.stop()
      await Promise.all([creating, forking].map(namesLeftBy))
      await scene.end()
    }
  },
  { deadlineMs: 240_000 },
)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/** What a runtime says may still exist when it is closed. */
async function namesLeftBy(runtime: DaytonaRuntime): Promise<readonly string[]> {
  try {
    await runtime.close()
    return []
  } catch (error) {
    const { names } = toErrorData(error).details ?? {}
    return Array.isArray(names) ? names.map(String) : [`${error}`]
  }
}

test.run()

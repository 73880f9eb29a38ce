/** A wall clock that is set by hours, forwards and back, while the monotonic one goes on. */
import * as assert from 'uvu/assert'
import { type Clock, systemClock } from '../../src/clock.ts'
import { suite } from '../support/suite.ts'
import { allGraded } from './harness/all-graded.ts'
import { withCloud } from './harness/daytona.ts'
import { localRuntime } from './harness/perform.ts'
import { withFaultScene } from './harness/scene.ts'
import { type Draw, faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of the clock')

const MEMBERS = 2
const GROUPS = 3
const HOUR_MS = 3_600_000

/** Every look at it but the first is hours away from the one before. */
function makeJumpingClock(draw: Draw): Clock & { readonly jumps: () => number } {
  let jumps = -1
  let offset = 0
  return {
    now: () => systemClock.now(),
    after: (delayMs, wake) => systemClock.after(delayMs, wake),
    wallTime() {
      jumps += 1
      if (jumps > 0) offset = draw.whole(-48, 48) * HOUR_MS
      return systemClock.wallTime() + offset
    },
    jumps: () => jumps,
  }
}

for (const [where, seeds] of [
  ['on this machine', 4],
  ['in the cloud', 2],
] as const)
  faultTest(
    test,
    `${where} no deadline fires for it, no sandbox is left, and records say how long things took`,
    { seeds },
    draw =>
      withFaultScene([], async scene => {
        const clock = makeJumpingClock(draw)
        const begun = systemClock.now()
        const job = { groups: GROUPS, members: MEMBERS, seed: draw.seed }
        const { groups } =
          where === 'on this machine'
            ? await allGraded(scene, {
                ...job,
                options: { clock, threads: 0, runtime: localRuntime(scene, { clock }) },
              })
            : await withCloud(scene, draw.seed, async ({ makeRuntime }) =>
                allGraded(scene, { ...job, options: { clock, threads: 0, runtime: makeRuntime({ clock }) } }),
              )
        const tookMs = systemClock.now() - begun
        for (const { runId, attempt, startedAt, endedAt } of groups.flatMap(({ runs }) => runs)) {
          assert.is(attempt, 1, runId)
          assert.ok(endedAt - startedAt <= tookMs, `${runId} took ${endedAt - startedAt} ms`)
        }
        assert.ok(clock.jumps() >= GROUPS * MEMBERS)
        return clock.jumps()
      }),
  )

runFaults(test)

/** Sandboxes in a cloud that go wrong: while they are made, and lost in each phase of a rollout. */
import * as assert from 'uvu/assert'
import type { FaultKind } from '../../src/emulator/faults.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { allGraded, surviveWith } from './harness/all-graded.ts'
import { withCloud } from './harness/daytona.ts'
import { type Place, withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of sandboxes')

const MEMBERS = 2
/** `serving`: while the first of them still boots. */
const PLACES: readonly Place[] = ['serving', 'connecting', 'starting', 'agent', 'grading', 'cleanup']
/** Faults of one sandbox's making, which a later attempt does not meet. */
const MAKING: readonly [FaultKind, ...FaultKind[]] = [
  'create-error',
  'reset-create',
  'too-many-requests',
  'server-error',
  'toolbox-error',
  'reset',
  'slow-boot',
]

faultTest(
  test,
  'what goes wrong in the making of sandboxes costs a retry, or a reason and no reward',
  { seeds: 6 },
  draw =>
    withFaultScene([], scene =>
      withCloud(scene, draw.seed, async ({ emulator, makeRuntime }) => {
        const groups = 2
        const struck = () => Object.values(emulator.faults.struck).reduce((sum, count) => sum + count, 0)
        const runtime = makeRuntime()
        await runtime.preflight()
        const kinds = [draw.one(MAKING), draw.one(MAKING)]
        for (const kind of kinds) emulator.faults.set({ kind, next: draw.whole(1, 3) })
        const { balance } = await surviveWith(
          scene,
          { groups, members: MEMBERS, seed: draw.seed, options: { runtime, threads: 0 } },
          {
            stops: ['provision-failed', 'sandbox-lost'],
            tags: [
              'daytona-sandbox-failed',
              'daytona-server-error',
              'daytona-rate-limited',
              'daytona-unreachable',
              'connect-timeout',
            ],
          },
        )
        assert.is(balance.graded + balance.failed, groups * MEMBERS)
        assert.ok(struck() > 0, kinds.join())
        return struck()
      }),
    ),
)

for (const phase of PLACES)
  faultTest(
    test,
    `sandboxes lost in the phase "${phase}" cost an attempt, and every rollout is graded`,
    { seeds: 2 },
    draw => {
      const groups = 2
      const [arrival = 1] = draw.moments(1, phase === 'serving' ? 1 : groups * MEMBERS)
      return withFaultScene([{ phase, arrival, act: 'wait' }], scene =>
        withCloud(scene, draw.seed, async cloud => {
          let lost = 0
          const outcome = await allGraded(scene, {
            groups,
            members: MEMBERS,
            seed: draw.seed,
            options: { runtime: cloud.makeRuntime(), maxConcurrent: 2, deadlines: { connecting: 10_000 } },
            async during() {
              await until(scene.waits, () => `an arrival ${arrival} at ${phase}`)
              lost = await cloud.loseAll()
              scene.go()
            },
          })
          assert.ok(lost > 0)
          const attempts = outcome.groups.flatMap(({ runs }) => runs.map(({ attempt }) => attempt))
          if (phase !== 'cleanup' && phase !== 'serving')
            assert.ok(Math.max(...attempts) > 1, 'who lost a sandbox tried again')
          return lost
        }),
      )
    },
  )

runFaults(test)

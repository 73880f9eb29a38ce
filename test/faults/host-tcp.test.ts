/**
 * An environment host that serves over TCP, where a port that refuses may only not serve yet: who connects to a host that was killed would try until its
 * deadline, if nobody told it.
 */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { allGraded, surviveWith } from './harness/all-graded.ts'
import { localRuntime } from './harness/perform.ts'
import { type Place, withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of an environment host behind a port')

const MEMBERS = 2
/** The default for connecting, and far less. */
const DEADLINES = { connecting: 120_000 }
const SOON_MS = 30_000
const PLACES: readonly Place[] = ['connecting', 'starting', 'agent', 'grading']

for (const phase of PLACES)
  faultTest(
    test,
    `killed in the phase "${phase}", it is replaced at once, and every rollout is graded`,
    { seeds: 2, deadlineMs: 100_000 },
    draw => {
      const groups = draw.whole(2, 3)
      const [arrival = 1] = draw.moments(1, groups * MEMBERS)
      return withFaultScene([{ phase, arrival, act: 'kill-host' }], async scene => {
        const runtime = localRuntime(scene, { transport: 'tcp' })
        const begun = performance.now()
        const options = { runtime, deadlines: DEADLINES }
        const { groups: ended } = await allGraded(scene, { groups, members: MEMBERS, seed: draw.seed, options })
        const tookMs = performance.now() - begun
        assert.ok(tookMs < SOON_MS, `it took ${Math.round(tookMs)} ms`)
        const attempts = ended.flatMap(({ runs }) => runs.map(({ attempt }) => attempt))
        assert.ok(Math.max(...attempts) > 1, 'who lost the host tried again')
        return 1
      })
    },
  )

faultTest(
  test,
  'killed while its rollouts connect, without retries, it costs them their reward, with its last words as the reason',
  { seeds: 1, deadlineMs: 100_000 },
  draw =>
    withFaultScene([{ phase: 'connecting', arrival: 1, act: 'kill-host' }], async scene => {
      const runtime = localRuntime(scene, { transport: 'tcp' })
      const begun = performance.now()
      const { balance, outcome } = await surviveWith(
        scene,
        { groups: 2, members: MEMBERS, seed: draw.seed, options: { runtime, retries: 0, deadlines: DEADLINES } },
        { stops: ['sandbox-lost', 'provision-failed'], tags: ['lease-lost', 'session-lost', 'connect-timeout'] },
      )
      assert.ok(performance.now() - begun < SOON_MS)
      assert.ok(balance.failed > 0)
      for (const { runs } of outcome.groups)
        for (const { error } of runs) if (error !== undefined) assert.match(error.message, /ended with signal SIGKILL/)
      return 1
    }),
)

runFaults(test)

/** An environment host that is killed, or stopped so that it answers nobody, in each phase that it sees. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { allGraded, surviveWith } from './harness/all-graded.ts'
import { perform } from './harness/perform.ts'
import { type Place, withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of the environment host')

const MEMBERS = 2
const PLACES: readonly Place[] = ['connecting', 'starting', 'agent', 'grading', 'cleanup']
/** What a host that is gone leaves its rollouts with, whichever of them notices first. */
const LOST = {
  stops: ['sandbox-lost', 'provision-failed'],
  tags: ['lease-lost', 'session-lost', 'connect-timeout', 'dial-failed', 'phase-deadline'],
} as const

for (const phase of PLACES) {
  faultTest(
    test,
    `a host killed in the phase "${phase}" is replaced, and every rollout is graded`,
    { seeds: 2 },
    draw => {
      const groups = draw.whole(2, 3)
      const [arrival = 1] = draw.moments(1, groups * MEMBERS)
      return withFaultScene([{ phase, arrival, act: 'kill-host' }], async scene => {
        await allGraded(scene, { groups, members: MEMBERS, seed: draw.seed })
        return 1
      })
    },
  )

  faultTest(
    test,
    `without retries a host killed in the phase "${phase}" costs rollouts their reward, never a zero`,
    { seeds: 1 },
    draw => {
      const groups = 3
      const [arrival = 1] = draw.moments(1, groups * MEMBERS)
      return withFaultScene([{ phase, arrival, act: 'kill-host' }], async scene => {
        const job = { groups, members: MEMBERS, seed: draw.seed, options: { retries: 0 } }
        const { balance, outcome } = await surviveWith(scene, job, LOST)
        const errors = outcome.groups.flatMap(({ runs }) => runs.flatMap(({ error }) => error ?? []))
        for (const { message } of errors) assert.match(message, /ended with signal SIGKILL/)
        assert.is(balance.failed, errors.length)
        return 1
      })
    },
  )
}

for (const phase of ['connecting', 'starting', 'agent', 'grading'] as const)
  faultTest(
    test,
    `a host that answers nobody from the phase "${phase}" on costs deadlines, not the run`,
    { seeds: 1 },
    draw => {
      const groups = 2
      const [arrival = 1] = draw.moments(1, groups * MEMBERS)
      return withFaultScene([{ phase, arrival, act: 'stop-host' }], async scene => {
        const deadlines = { connecting: 1_500, starting: 1_500, grading: 1_500, cleanup: 500 }
        const job = { groups, members: MEMBERS, seed: draw.seed, options: { retries: 0, deadlines } }
        const { balance } = await surviveWith(scene, job, { stops: [...LOST.stops, 'deadline'], tags: LOST.tags })
        assert.ok(balance.failed > 0)
        return 1
      })
    },
  )

faultTest(
  test,
  'a host that dies before it serves is an error that says so, and no rollout is begun',
  { seeds: 1 },
  draw =>
    withFaultScene([{ phase: 'serving', arrival: 1, act: 'kill-host' }], async scene => {
      const { error, closing, groups } = await perform(scene, { groups: 2, members: MEMBERS, seed: draw.seed })
      assert.equal([error?.tag, closing, groups], ['serve-failed', undefined, []])
      assert.match(error?.message ?? '', /signal SIGKILL/)
      return 1
    }),
)

runFaults(test)

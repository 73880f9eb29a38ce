/** A process that may have only so many descriptors. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { checkConservation } from './harness/conservation.ts'
import { withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'
import { runLimited } from './harness/start-child.ts'

const test = suite('faults of descriptors')

const LIMIT = 256
/** What there is not enough for: to open the journal, to start a host, to load sources, to start threads, and to run. */
const RANGES = [
  [0, 5],
  [6, 11],
  [12, 22],
  [23, 34],
  [35, 56],
] as const

for (const [least, most] of RANGES)
  faultTest(
    test,
    `with ${least} to ${most} descriptors left a run ends, with reasons, and leaves nothing`,
    { seeds: 1 },
    draw =>
      withFaultScene([], async scene => {
        const spare = draw.whole(least, most)
        const job = {
          groups: 3,
          members: 4,
          seed: draw.seed,
          bytes: 1,
          spare,
          options: { threads: draw.whole(0, 2), retries: 0 },
        }
        const { exit, outcome, kept, stderr } = await runLimited(scene, `-n ${LIMIT}`, job)
        const what = `${spare} descriptors, ${job.options.threads} threads: exit ${exit}, ${stderr}`
        assert.ok(typeof exit === 'number', what)
        if (outcome === undefined) throw new Error(what)
        const runs = outcome.groups.flatMap(group => group.runs)
        for (const error of [outcome.error, outcome.closing, ...runs.map(run => run.error)])
          if (error !== undefined)
            assert.ok(error.tag !== 'unexpected' && error.message.length > 0, `${what} ${JSON.stringify(error)}`)
        const stops = ['provision-failed', 'sandbox-lost', 'thread-lost', 'agent-threw', 'environment-threw'] as const
        if (kept !== undefined && outcome.snapshot?.plannedRuns === 12)
          checkConservation(outcome, kept, { stops, tags: runs.flatMap(run => run.error?.tag ?? []) })
        return 1
      }),
  )

runFaults(test)

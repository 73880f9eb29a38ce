/** Hosts whose names nobody knows: the cloud's, and a served environment's. */
import * as assert from 'uvu/assert'
import { DaytonaRuntime } from '../../src/runtimes/daytona/daytona-runtime.ts'
import { UrlRuntime } from '../../src/runtimes/url.ts'
import { suite } from '../support/suite.ts'
import { perform } from './harness/perform.ts'
import { withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of names')

const RUNTIMES = [
  [
    'the cloud',
    'daytona-unreachable',
    () =>
      new DaytonaRuntime('daytonaio/sandbox', {
        apiUrl: 'http://cloud.invalid/api',
        apiKey: 'k',
        command: 'troupe serve env.ts',
      }),
  ],
  ['an environment', 'nobody-serves', () => new UrlRuntime('environment.invalid:8765', { connectDeadlineMs: 3_000 })],
] as const

for (const [title, tag, makeRuntime] of RUNTIMES)
  faultTest(
    test,
    `${title} whose name nobody knows is named in the error, and no rollout is begun`,
    { seeds: 1 },
    draw =>
      withFaultScene([], async scene => {
        const options = { runtime: makeRuntime() }
        const { error, closing, groups, snapshot } = await perform(scene, {
          groups: 2,
          members: 2,
          seed: draw.seed,
          options,
        })
        assert.equal([error?.tag, closing, groups, snapshot?.finishedRuns], [tag, undefined, [], 0])
        assert.match(error?.message ?? '', /\.invalid/)
        return 1
      }),
  )

runFaults(test)

/** Our docker runtime with HUD's server in each container, at the stand-in for an engine. */
import { fileURLToPath } from 'node:url'
import { makeBenchDirectory } from '../../bench/directory.ts'
import { quote } from '../../src/quote.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { withScene } from '../runtimes/docker/docker-scene.ts'
import { directionSuite } from './support/direction.ts'
import { needHud } from './support/hud.ts'
import { hudVariables, serveTheirsArgv, sourceOf } from './support/places.ts'

const { test, check, rolledOut } = directionSuite(
  "our engine -> HUD's environments",
  "our containers with HUD's servers in them",
)

const temporary = await makeBenchDirectory()
const bridge = fileURLToPath(new URL('./support/bridge.js', import.meta.url))
let python: string

test.before(async () => {
  python = await needHud()
})

test.after(() => temporary.remove())

test(
  'each rollout has a container of its own, which is gone at the end',
  () =>
    withScene(async scene => {
      const argv = [process.execPath, bridge, ...serveTheirsArgv(python, sourceOf('environments/words.py'))]
      const runtime = scene.makeRuntime({
        command: `exec ${argv.map(quote).join(' ')}`,
        variables: hudVariables(temporary.directory),
      })
      try {
        const rows = [1, 2].map(a => ({ env: 'words', id: 'add', args: { a }, slug: `add-${a}` }))
        const job = await new Taskset('words', rows).run(
          {
            kind: 'module',
            url: new URL('./support/agents.js', import.meta.url).href,
            exportName: 'adder',
            config: {},
          },
          { runtime, group: 2, seed: 1, threads: 1, maxConcurrent: 2, deadlines: { provisioning: 120_000 } },
        )
        await job.close()
        check.equal(
          job.runs.map(({ error, reward }) => error?.message ?? reward),
          [1, 1, 1, 1],
        )
        check.equal(scene.leftovers(), [])
        rolledOut(4)
      } finally {
        await runtime.close()
      }
    }),
  { deadlineMs: 180_000 },
)

test.run()

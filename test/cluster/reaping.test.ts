import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { SNAPSHOT, withDaytona } from '../end-to-end/daytona-scene.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readContent } from './support/content.ts'
import { startNats } from './support/nats.ts'
import { drain, evalNotes, startWorkerWith } from './support/workers.ts'

const test = suite('what a dead worker has left')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'sandboxes in the cloud of a worker that was killed are deleted by those that live, while the job goes on',
  async () => {
    await using nats = await startNats()
    const [url = ''] = nats.urls
    await withDaytona(
      scene => ({ environmentPath: join(scene.directory, 'env.ts') }),
      async ({ scene, emulator, start, run, state }) => {
        const variables = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
        const begin = () => startWorkerWith(scene, url, variables, '--max-concurrent', '2')
        const killed = await begin()
        const daytona = ['--runtime', 'daytona', '--snapshot', SNAPSHOT, '--env', 'env.ts']
        const argv = evalNotes(scene, { hold: [0, 1, 2] }, '--group', '2', ...daytona)
        const running = start([...argv, '--cluster', url, '--redeliver-after', '2'])
        await until(
          () => scene.starts().length === 2,
          () => `a group has begun: ${running.stderr()}\n${killed.stderr()}`,
        )
        assert.is((await state()).existing, 2)
        const living = await begin()
        await until(
          () => scene.starts().length === 4,
          () => `another has begun: ${running.stderr()}\n${living.stderr()}`,
        )
        killed.child.kill('SIGKILL')
        await until(
          async () => (await state()).existing === 2,
          () => `only what the living has is there: ${running.stderr()}\n${living.stderr()}`,
        )
        assert.is(scene.starts().length, 4, 'the job has not ended meanwhile')
        scene.go()
        assert.is(await running.ended, 0, running.stderr())
        assert.is(await drain(living), 0)
        assert.is((await state()).existing, 0)
        // Files of a dead process here are removed by the next.
        assert.is((await run([...argv, '--journal', 'alone'])).exit, 0)
        assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      },
    )
  },
  SLOW,
)

test.run()

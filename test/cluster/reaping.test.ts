import { hostname } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Lease } from '../../src/cluster/leases.ts'
import { SNAPSHOT, withDaytona } from '../end-to-end/daytona-scene.ts'
import { type Cli, until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readBucket } from './support/buckets.ts'
import { readContent } from './support/content.ts'
import { startNats } from './support/nats.ts'
import { drain, evalNotes, startWorkerWith } from './support/workers.ts'

const test = suite('what a dead worker has left')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

test(
  'sandboxes in the cloud of a worker that was killed are deleted by those that live, while the job goes on; also when the coordinator was killed with it',
  async () => {
    await using nats = await startNats()
    const [url = ''] = nats.urls
    await withDaytona(
      scene => ({ environmentPath: join(scene.directory, 'env.ts') }),
      async ({ scene, emulator, start, run, state }) => {
        const variables = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
        const begin = () => startWorkerWith(scene, url, variables, '--max-concurrent', '2')
        const daytona = ['--runtime', 'daytona', '--snapshot', SNAPSHOT, '--env', 'env.ts']
        const argv = evalNotes(scene, { hold: [0, 1, 2] }, '--group', '2', ...daytona)
        const clustered = [...argv, '--cluster', url, '--redeliver-after', '2']
        const hasBegun = (rollouts: number, of: readonly Cli[]) =>
          until(
            () => scene.starts().length === rollouts,
            () => `${rollouts} have begun: ${of.map(({ stderr }) => stderr()).join('\n')}`,
          )
        const readLeases = async () => [...(await readBucket<Lease>(url, 'troupe-leases')).values()].flat()
        /** Two sandboxes, and the lease of that one. */
        const onlyHas = (worker: Cli, coordinator: Cli) =>
          until(
            async () => {
              const [lease, ...others] = await readLeases()
              const isAlone = others.length === 0 && worker.stderr().startsWith(`${lease?.node} works for`)
              return isAlone && (await state()).existing === 2
            },
            () => `only what the living has is there: ${coordinator.stderr()}\n${worker.stderr()}`,
          )

        const killed = await begin()
        const running = start(clustered)
        await hasBegun(2, [running, killed])
        assert.is((await state()).existing, 2)
        const [{ owner = '', host, runtime } = {}] = await readLeases()
        assert.equal({ host, runtime }, { host: hostname(), runtime: 'daytona' })
        assert.is(owner.split('~')[2], String(killed.child.pid))
        const other = await begin()
        await hasBegun(4, [running, other])
        killed.child.kill('SIGKILL')
        await onlyHas(other, running)

        // Nobody is left who knows of that one.
        other.child.kill('SIGKILL')
        running.child.kill('SIGKILL')
        await Promise.all([other.ended, running.ended])
        const living = await begin()
        const again = start(clustered)
        await hasBegun(6, [again, living])
        await onlyHas(living, again)
        assert.is(scene.starts().length, 6, 'the job has not ended meanwhile')
        scene.go()
        assert.is(await again.ended, 0, again.stderr())
        assert.equal(await readLeases(), [])
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

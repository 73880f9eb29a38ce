import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { readWorkers } from '../../src/cluster/worker-board.ts'
import { SNAPSHOT, withDaytona } from '../end-to-end/daytona-scene.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { startNats } from './support/nats.ts'
import { drain, evalNotes, startWorkerWith } from './support/workers.ts'

const test = suite('workers at one account')
/** Windows of the provider's limit, of six seconds each. */
const SLOW = { deadlineMs: 120_000 }
const LIMIT = 8
/** Of 24 creates. Each for itself has as many refused as admitted. */
const MOST_REFUSED = 4

interface Calls {
  readonly calls: Readonly<Record<string, { readonly admitted: number; readonly refused: number }>>
}

test(
  'two workers keep to the limit on creates of the account that both draw on, also while the NATS server is silent',
  async () => {
    await using nats = await startNats()
    const [url = ''] = nats.urls
    const [server] = nats.servers
    await withDaytona(
      scene => ({
        environmentPath: join(scene.directory, 'env.ts'),
        speed: 10,
        limits: { 'sandbox-create': LIMIT },
      }),
      async ({ scene, emulator, start }) => {
        const variables = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
        const begin = (more: Readonly<Record<string, string>>) =>
          startWorkerWith(scene, url, { ...variables, ...more }, '--max-concurrent', '16')
        const workers = [await begin({ DAYTONA_TARGET: 'eu' }), await begin({})]
        const daytona = [
          '--runtime',
          'daytona',
          '--snapshot',
          SNAPSHOT,
          '--env',
          'env.ts',
          '--cluster',
          url,
          '--redeliver-after',
          '120',
        ]
        const running = start(evalNotes(scene, {}, '--group', '8', ...daytona))
        await until(
          () => scene.starts().length >= LIMIT,
          () => `a window is used up: ${running.stderr()}`,
        )
        const connection = await connect({ servers: url })
        let regions: string[] = []
        await until(
          async () => {
            regions = (await readWorkers(connection)).map(line => line.regions.join()).sort()
            return regions.join('|') === '|eu'
          },
          () => `lines with the regions: ${regions}`,
        )
        await connection.close()
        // They wait for the next, and nobody answers them: each goes on with its share.
        process.kill(server?.pid ?? Number.NaN, 'SIGSTOP')
        await until(
          () => scene.starts().length > LIMIT,
          () => `a create without the coordinator's word: ${workers.map(worker => worker.stderr())}`,
        )
        process.kill(server?.pid ?? Number.NaN, 'SIGCONT')
        assert.is(await running.ended, 0, running.stderr())
        assert.is(scene.starts().length, 24)
        const answer = await fetch(new URL('/emulator/state', emulator.url), {
          headers: { authorization: `Bearer ${emulator.apiKey}` },
        })
        const { 'sandbox-create': creates } = ((await answer.json()) as Calls).calls
        assert.ok(creates !== undefined && creates.admitted >= 24, `${creates?.admitted} admitted`)
        assert.ok(creates.refused <= MOST_REFUSED, `${creates.refused} refused`)
        for (const worker of workers) assert.is(await drain(worker), 0)
        assert.is(JSON.stringify(workers.map(worker => worker.stderr())).includes(emulator.apiKey), false)
      },
    )
  },
  SLOW,
)

test.run()

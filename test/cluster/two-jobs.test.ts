import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { type LimitSign, openLimitSigns } from '../../src/cluster/limit-signs.ts'
import { SNAPSHOT, withDaytona } from '../end-to-end/daytona-scene.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { startNats } from './support/nats.ts'
import { drain, evalNotes, startWorkerWith } from './support/workers.ts'

const test = suite('jobs at one account')
/** Windows of the provider's limit, of six seconds each. */
const SLOW = { deadlineMs: 120_000 }
const LIMIT = 8
const MOST_REFUSED = 4

interface Calls {
  readonly calls: Readonly<Record<string, { readonly admitted: number; readonly refused: number }>>
}

test(
  'three jobs keep to the limit on creates of the account that they draw on, also when the one that keeps it ends, and the next is killed',
  async () => {
    await using nats = await startNats()
    const [url = ''] = nats.urls
    await withDaytona(
      scene => ({
        environmentPath: join(scene.directory, 'env.ts'),
        speed: 10,
        limits: { 'sandbox-create': LIMIT },
      }),
      async ({ scene, emulator, start }) => {
        const connection = await connect({ servers: url })
        const newest = new Map<string, LimitSign>()
        const errors: unknown[] = []
        openLimitSigns(
          connection,
          sign => newest.set(sign.node, sign),
          error => errors.push(error),
        )
        const variables = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
        const worker = await startWorkerWith(scene, url, variables, '--max-concurrent', '64')
        const held = join(scene.directory, 'held')
        await mkdir(held)
        /** Its runs do not end before the directory has a file `go`. */
        const begin = async (journal: string, directory: string, group: number) => {
          const before = new Set(newest.keys())
          const daytona = ['--runtime', 'daytona', '--snapshot', SNAPSHOT, '--env', 'env.ts', '--cluster', url]
          const cli = start(
            evalNotes(scene, { directory, hold: [0] }, '--group', String(group), '--journal', journal, ...daytona),
          )
          let node = ''
          await until(
            () => {
              node = [...newest.values()].find(sign => !before.has(sign.node) && sign.rank > 0)?.node ?? ''
              return node !== ''
            },
            () => `a coordinator with a rank: ${cli.stderr()}`,
          )
          return { cli, node }
        }
        const first = await begin('one', scene.directory, 4)
        const others = [await begin('two', held, 3), await begin('three', held, 3)]
        const keeper = () => [...newest.values()].filter(sign => sign.accounts.length > 0 && !sign.isOver)
        await until(
          () => keeper().length === 1,
          () => JSON.stringify([...newest.values()]),
        )
        assert.is(keeper()[0]?.node, first.node)
        scene.go()
        assert.is(await first.cli.ended, 0, first.cli.stderr())
        await until(
          () => keeper().length === 1,
          () => JSON.stringify([...newest.values()]),
        )
        const [handedOver] = keeper()
        assert.is(handedOver?.accounts[0]?.limit, LIMIT, 'it knows what it was not told by the provider')
        const next = others.find(({ node }) => node === handedOver?.node)
        const last = others.find(({ node }) => node !== handedOver?.node)
        assert.ok(next !== undefined && last !== undefined)
        next.cli.child.kill('SIGKILL')
        newest.delete(next.node)
        await until(
          () => keeper()[0]?.node === last.node,
          () => JSON.stringify([...newest.values()]),
        )
        await writeFile(join(held, 'go'), '')
        assert.is(await last.cli.ended, 0, last.cli.stderr())
        const answer = await fetch(new URL('/emulator/state', emulator.url), {
          headers: { authorization: `Bearer ${emulator.apiKey}` },
        })
        const { 'sandbox-create': creates } = ((await answer.json()) as Calls).calls
        assert.ok(creates !== undefined && creates.admitted >= 21, `${creates?.admitted} admitted`)
        assert.ok(creates.refused <= MOST_REFUSED, `${creates.refused} refused`)
        assert.is(await drain(worker), 0)
        assert.equal(errors, [])
        await connection.close()
      },
    )
  },
  SLOW,
)

test.run()

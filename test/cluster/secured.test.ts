/** A whole evaluation by TLS, with the key of its role for each process: what Troupe does is what the roles may do. */
import { readFileSync } from 'node:fs'
import { jetstreamManager } from '@nats-io/jetstream'
import * as assert from 'uvu/assert'
import { connectNats } from '../../src/cluster/connect.ts'
import { type Scene, until, withScene } from '../end-to-end/scene.ts'
import { textBelow } from '../support/living-tree.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { sampleOf } from '../telemetry/metrics/exposition.ts'
import { readContent } from './support/content.ts'
import { type Secured, startSecuredNats } from './support/secured.ts'
import { drain, evalNotes } from './support/workers.ts'

const test = suite('a secured cluster')

const PLANTED = 'sk-planted-0a1b2c3d4e5f'

/** Just what a message may have beside its trajectory: every trajectory goes through the object store. */
const SMALL_PAYLOAD = 256 * 1024

/** A scene, and a server outside of it: what the scene has left is not the server's. */
async function withSecured(
  options: { readonly maxPayload?: number },
  body: (scene: Scene, secured: Secured) => Promise<void>,
): Promise<void> {
  await withFiles({}, async directory => {
    const secured = await startSecuredNats(directory, options)
    await using _nats = secured.nats
    await withScene(scene => body(scene, secured))
  })
}

test(
  'workers with their own key come and go, and the coordinator’s metrics say how many are wanted',
  () =>
    withSecured({ maxPayload: SMALL_PAYLOAD }, async (scene, { nats, keys }) => {
      const url = nats.urls.join(',')
      const as = (role: 'coordinator' | 'worker') => ({
        NATS_NKEY: keys.nkeys[role],
        NATS_CA: keys.ca,
        HUD_API_KEY: PLANTED,
        HUD_TELEMETRY_ENABLED: 'false',
      })
      const start = () =>
        scene.start(
          ['worker', '--nats', url, '--threads', '1', '--max-concurrent', '4', '--drain', '0.2'],
          as('worker'),
        )
      const first = start()
      const argv = evalNotes(scene, { hold: [0, 1, 2] }, '--group', '4')
      const running = scene.start(
        [...argv, '--cluster', url, '--redeliver-after', '60', '--metrics', '0'],
        as('coordinator'),
      )
      await until(
        () => scene.starts().length === 4,
        () => `a group has begun: ${first.stderr()} ${running.stderr()}`,
      )
      const [, address = ''] = /metrics: (\S+)/.exec(running.stderr()) ?? []
      const scrape = async () => (await fetch(address)).text()
      let text = ''
      await until(
        async () => {
          text = await scrape()
          return sampleOf(text, 'troupe_cluster_credits', { state: 'used' }) === 4
        },
        () => text,
      )
      assert.is(sampleOf(text, 'troupe_cluster_workers'), 1)
      assert.is(sampleOf(text, 'troupe_cluster_credits', { state: 'free' }), 0)
      assert.is(sampleOf(text, 'troupe_workers_wanted'), 3, 'three groups of four, and a worker has four')

      const second = start()
      await until(
        async () => sampleOf(await scrape(), 'troupe_cluster_workers') === 2,
        () => second.stderr(),
      )
      let stored = ''
      await until(
        () => {
          stored = textBelow(nats.directory)
          return stored.includes('agent.mjs')
        },
        () => 'the plans on the disk of the server',
      )
      assert.not.ok(stored.includes(PLANTED))
      for (const path of Object.values(keys.nkeys)) assert.not.ok(stored.includes(readFileSync(path, 'utf8').trim()))
      // What the first has is handed back.
      assert.is(await drain(first), 0, first.stderr())
      scene.go()
      assert.is(await running.ended, 0, running.stderr())
      assert.is(await drain(second), 0, second.stderr())
      assert.is((await scene.run([...argv, '--journal', 'alone'])).exit, 0)
      assert.equal(await readContent(scene.journal), await readContent(`${scene.directory}/alone`))
      for (const { stderr } of [first, second, running])
        assert.not.match(stderr(), /permission|violation|warning/i, stderr())
      assert.equal(
        nats.log.filter(line => /violation|error/i.test(line)),
        [],
      )
      const files = { ca: keys.ca, nkey: keys.nkeys.observer }
      const observer = await connectNats({ urls: nats.urls, role: 'observer', name: 'test', files })
      const { state } = await (await jetstreamManager(observer)).streams.info('OBJ_troupe-trajectories')
      await observer.close()
      assert.ok(state.last_seq > 12, 'every trajectory has been in the object store')
      assert.equal(scene.leftovers(), [])
    }),
  { deadlineMs: 60_000 },
)

test('a worker with another role’s key, or with none, ends and says why', () =>
  withSecured({}, async (scene, { nats, keys }) => {
    const argv = ['worker', '--nats', nats.urls.join(','), '--threads', '0']
    const none = await scene.run(argv, { NATS_CA: keys.ca })
    assert.is(none.exit, 2)
    assert.match(none.stderr, /refuses this process; this process showed no credentials: name a file in NATS_CREDS or/)
    const untrusting = await scene.run(argv, { NATS_NKEY: keys.nkeys.worker })
    assert.is(untrusting.exit, 2)
    assert.match(untrusting.stderr, /cannot be trusted.*NATS_CA/)
  }))

test.run()

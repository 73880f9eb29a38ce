import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { ensureSnapshot } from '../../../../src/runtimes/daytona/snapshot/index.ts'
import { listSnapshots } from '../../../../src/runtimes/daytona/snapshot/look.ts'
import { assertRejects } from '../../../support/assert-rejects.ts'
import { suite } from '../../../support/suite.ts'
import { withFiles } from '../../../support/temporary-directory.ts'
import { makeSnapshot, open, untilState, withAccount } from './scene.ts'

const test = suite('snapshots')

const FILES = {
  Dockerfile: 'FROM node:22\nWORKDIR /app\nCOPY env.ts ./\nCMD ["troupe", "serve", "env.ts"]\n',
  'env.ts': 'export {}',
}

const namesIn = async (account: Account) => (await listSnapshots(account, 'calc')).map(({ name }) => name)

/** The log's lines, for as long as the build is under way. */
const ensure = async (account: Account, directory: string, lines: string[] = []) =>
  ensureSnapshot(account, {
    name: 'calc',
    image: join(directory, 'Dockerfile'),
    onBuildLog: line => lines.push(line),
  })

test('what is not there is built once, with its log, and found from then on', () =>
  withAccount(account =>
    withFiles(FILES, async directory => {
      const lines: string[] = []
      const built = await ensure(account, directory, lines)
      assert.match(built.name, /^calc-[0-9a-f]{12}$/)
      assert.equal(built.resources, { cpu: 1, memory: 1, disk: 3 })
      assert.is(built.command, 'cd /app && exec troupe serve env.ts')
      assert.equal(built.regions, ['us'])
      assert.match(built.organizationId ?? '', /^[0-9a-f-]{36}$/)
      assert.equal(lines, [
        'Step 1/4 : FROM node:22',
        'Step 2/4 : WORKDIR /app',
        'Step 3/4 : COPY env.ts ./',
        'Step 4/4 : CMD ["troupe", "serve", "env.ts"]',
        'Successfully built',
      ])
      const before = systemClock.now()
      assert.equal(await ensure(account, directory, lines), built)
      assert.is(lines.length, 5, 'nothing was built')
      assert.ok(systemClock.now() - before < 500, 'nor waited for')
    }),
  ))

test('a limit or a fault of the provider when it is asked to build is waited out', () =>
  withAccount(account =>
    withFiles(FILES, async directory => {
      const refusals = [429, 503]
      const { snapshot } = await account.sdk()
      const create: typeof snapshot.create = async function (this: typeof snapshot, ...given) {
        const statusCode = refusals.shift()
        if (statusCode !== undefined) throw Object.assign(new Error('not now'), { statusCode })
        return snapshot.create.apply(this, given)
      }
      const refusing: typeof snapshot = Object.create(snapshot, { create: { value: create } })
      const sdk = async () => ({ snapshot: refusing }) as Awaited<ReturnType<Account['sdk']>>
      const lines: string[] = []
      const { name } = await ensure({ ...account, sdk }, directory, lines)
      assert.equal([refusals, lines.at(-1)], [[], 'Successfully built'])
      assert.equal(await namesIn(account), [name])
    }),
  ))

test('a changed file and other resources are other snapshots', () =>
  withAccount(account =>
    withFiles(FILES, async directory => {
      const first = await ensure(account, directory)
      await writeFile(join(directory, 'env.ts'), 'export const changed = true')
      const image = join(directory, 'Dockerfile')
      const [second, large] = await Promise.all([
        ensure(account, directory),
        ensureSnapshot(account, { name: 'calc', image, resources: { cpu: 2, memory: 4 } }),
      ])
      assert.is.not(first.name, second.name)
      assert.equal(large.resources, { cpu: 2, memory: 4, disk: 3 })
      assert.is((await namesIn(account)).length, 3)
    }),
  ))

test('two who want the same at once build once', () =>
  withAccount(async (account, emulator) => {
    const other = await open(emulator)
    try {
      await withFiles(FILES, async directory => {
        const [one, two] = await Promise.all([ensure(account, directory), ensure(other, directory)])
        assert.equal(one, two)
        assert.equal(await namesIn(account), [one.name])
      })
    } finally {
      await other.release()
    }
  }))

test('a build that fails says so with its log, to all who wait for it', () =>
  withAccount(async (account, emulator) => {
    const other = await open(emulator)
    try {
      await withFiles({ ...FILES, Dockerfile: `${FILES.Dockerfile}VOLUME\n` }, async directory => {
        const failures = await Promise.all(
          [account, other].map(each => assertRejects(ensure(each, directory), 'snapshot-build-failed')),
        )
        for (const { message, data } of failures) {
          assert.match(message, /unknown instruction: VOLUME/)
          assert.match(message, /Its log ends with:\n {2}Step 1\/5 : FROM node:22\n/)
          assert.match(message, /ERROR: unknown instruction/)
          assert.is(data.address, (await namesIn(account))[0])
        }
        assert.is((await namesIn(account)).length, 1)
      })
    } finally {
      await other.release()
    }
  }))

test('what failed earlier is built anew, once', () =>
  withAccount(account =>
    withFiles({ ...FILES, Dockerfile: `${FILES.Dockerfile}VOLUME\n` }, async directory => {
      await assertRejects(ensure(account, directory), 'snapshot-build-failed')
      const [first] = await listSnapshots(account, 'calc')
      await assertRejects(ensure(account, directory), 'snapshot-build-failed')
      const all = await listSnapshots(account, 'calc')
      assert.is(all.length, 1)
      assert.is(all[0]?.name, first?.name)
      assert.is.not(all[0]?.id, first?.id)
    }),
  ))

test('nothing is sent for a Dockerfile that copies what is not there', () =>
  withAccount(account =>
    withFiles({ Dockerfile: FILES.Dockerfile }, async directory => {
      const error = await assertRejects(ensure(account, directory), 'dockerfile-copies-missing')
      assert.match(error.message, /line 3: COPY env\.ts/)
      assert.equal(await namesIn(account), [])
      await assertRejects(ensure(account, join(directory, 'nowhere')), 'dockerfile-missing', /nowhere\/Dockerfile/)
    }),
  ))

test('who stops waiting is let go at once, and the build is found later', () =>
  withAccount(
    account =>
      withFiles(FILES, async directory => {
        const stop = new AbortController()
        const waiting = ensureSnapshot(account, {
          name: 'calc',
          image: join(directory, 'Dockerfile'),
          onBuildLog: () => stop.abort(new Error('enough')),
          signal: stop.signal,
        })
        assert.match(String(await waiting.catch(error => error)), /enough/)
        const [going] = await listSnapshots(account, 'calc')
        assert.is(going?.state, 'building')
        const lines: string[] = []
        assert.is((await ensure(account, directory, lines)).name, going?.name)
        assert.is(lines.at(-1), 'Successfully built', 'the log of a build that is waited for is told, too')
      }),
    { speed: 30 },
  ))

test('without an image it must be there, be active and be in the region', () =>
  withAccount(async (account, emulator) => {
    const own = await ensureSnapshot(account, { name: 'daytonaio/sandbox' })
    assert.is(own.command, undefined)
    const missing = await assertRejects(ensureSnapshot(account, { name: 'nothing' }), 'snapshot-missing')
    assert.match(missing.message, /no snapshot nothing; the account has daytonaio\/sandbox/)
    await makeSnapshot(account, 'going', 'FROM node:22')
    const going = await assertRejects(ensureSnapshot(account, { name: 'going' }), 'snapshot-not-active')
    assert.match(going.message, /going is (pending|building)/)
    await makeSnapshot(account, 'broken', 'FETCH all')
    await untilState(account, 'broken', 'build_failed')
    const broken = await assertRejects(ensureSnapshot(account, { name: 'broken' }), 'snapshot-not-active')
    assert.match(broken.message, /build_failed \(unknown instruction: FETCH\)/)
    await untilState(account, 'going', 'active')
    const europe = await open(emulator, 'eu')
    const elsewhere = await assertRejects(ensureSnapshot(europe, { name: 'going' }), 'snapshot-elsewhere')
    assert.match(elsewhere.message, /not in region eu but in us/)
    await europe.release()
  }))

test('each region has a snapshot of its own', () =>
  withAccount(async (account, emulator) => {
    const europe = await open(emulator, 'eu')
    await withFiles(FILES, async directory => {
      const [here, there] = await Promise.all([ensure(account, directory), ensure(europe, directory)])
      assert.is.not(here.name, there.name)
      assert.equal(there.regions, ['eu'])
    })
    await europe.release()
  }))

test.run()

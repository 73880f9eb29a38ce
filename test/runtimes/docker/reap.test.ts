/** What dead engines left: found by its labels, and removed by whoever comes next or asks. */
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { toOwnerWord } from '../../../src/owner.ts'
import type { Engine } from '../../../src/runtimes/docker/engine/engine.ts'
import { findLeftovers, removeLeftovers } from '../../../src/runtimes/docker/reap.ts'
import { CHANNELS } from '../../../src/telemetry/channels.ts'
import { toRequest } from '../../contracts/runtime.ts'
import type { CliEnd } from '../../support/cli.ts'
import { suite } from '../../support/suite.ts'
import { type DockerScene, withScene } from './docker-scene.ts'
import { startOther } from './fixtures/start-other.ts'

const test = suite('docker reap')

const HOUR_MS = 3_600_000
/** An owner on a machine that cannot be seen from here. */
const FAR = 'build-7~0123456789ab.4026531836~4711~99'

function create({ docker }: Engine, name: string, Labels: Readonly<Record<string, string>>) {
  return docker.createContainer({ name, Image: 'environment', Labels: { ...Labels } })
}

const namesOf = ({ standIn }: DockerScene) => [...standIn.containers.values()].map(({ name }) => name).sort()

/** The engine as it is seen so much later. */
const later = (engine: Engine, byMs: number): Engine => ({
  ...engine,
  clock: { ...engine.clock, wallTime: () => engine.clock.wallTime() + byMs },
})

test('what a killed engine left is found and removed; what a living one has, and what is not ours, is not touched', () =>
  withScene(
    async scene => {
      const [dead, alive] = await Promise.all([startOther(scene.standIn, 2), startOther(scene.standIn, 1)])
      try {
        await dead.kill()
        const engine = await scene.openEngine()
        await create(engine, 'foreign', { team: 'others' })
        const found = await findLeftovers(engine)
        assert.equal(
          found.map(({ job, owner, standing, state }) => [job, owner, standing, state]),
          Array.from({ length: 2 }, () => ['job-2', dead.owner, 'dead', 'running']),
        )
        assert.is(scene.standIn.containers.size, 4, 'finding removes nothing')
        const told: string[] = []
        assert.equal(await removeLeftovers(engine, found, ({ name }) => told.push(name)), [])
        assert.equal(told.sort(), found.map(({ name }) => name).sort())
        assert.is(scene.standIn.containers.size, 2)
        assert.equal(await findLeftovers(engine), [])
      } finally {
        await alive.kill()
      }
      const engine = await scene.openEngine()
      assert.equal(await removeLeftovers(engine, await findLeftovers(engine)), [])
    },
    { left: ['container foreign, created'] },
  ))

test('the next runtime removes what engines left that are dead, tells it, and leaves the rest', () =>
  withScene(
    async scene => {
      const dead = await startOther(scene.standIn, 2)
      await dead.kill()
      const engine = await scene.openEngine()
      await create(engine, 'far', { 'troupe.owner': FAR, 'troupe.expiry': new Date(0).toISOString() })
      await create(engine, 'mine', { 'troupe.owner': toOwnerWord() })
      const told: unknown[] = []
      const listen = (message: unknown) => told.push(message)
      subscribe(CHANNELS.sandbox, listen)
      try {
        await scene.runtime.preflight()
      } finally {
        unsubscribe(CHANNELS.sandbox, listen)
      }
      assert.match(JSON.stringify(told), /docker-swept-up.*removed 2 containers/)
      assert.equal(namesOf(scene), ['far', 'mine'])
      await (await scene.runtime.provision(toRequest('one'))).dispose({ sessionEnded: false })
    },
    { left: ['container far, created', 'container mine, created'] },
  ))

test('a sweep that fails keeps nobody from working', () =>
  withScene(async scene => {
    scene.standIn.fault({ on: /^GET \/containers\/json/, answer: { status: 500, message: 'no list' } })
    await (await scene.runtime.provision(toRequest('one'))).dispose({ sessionEnded: false })
  }))

test('an owner elsewhere is alive until its expiry has passed, or until it is named; a living one is spared', () =>
  withScene(
    async scene => {
      const engine = await scene.openEngine()
      const expiry = new Date(engine.clock.wallTime() + HOUR_MS).toISOString()
      await create(engine, 'far', { 'troupe.owner': FAR, 'troupe.expiry': expiry })
      await create(engine, 'mine', { 'troupe.owner': toOwnerWord(), 'troupe.expiry': new Date(0).toISOString() })
      assert.equal(await findLeftovers(engine), [])
      assert.equal(
        (await findLeftovers(later(engine, 2 * HOUR_MS))).map(({ name, standing }) => [name, standing]),
        [['far', 'expired']],
      )
      assert.equal(await findLeftovers(later(engine, 2 * HOUR_MS), { olderThanMs: 3 * HOUR_MS }), [])
      for (const named of [{ owners: [FAR] }, { hosts: ['build-7'] }])
        assert.equal(
          (await findLeftovers(engine, named)).map(({ name, standing }) => [name, standing]),
          [['far', 'named']],
        )
      assert.equal(await findLeftovers(engine, { hosts: ['build-8'] }), [])
      assert.equal(await findLeftovers(engine, { owners: [toOwnerWord()] }), [])
    },
    { left: ['container far, created', 'container mine, created'] },
  ))

test('a runtime removes what owners left of whom it is told that they are dead, and nothing of the living', () =>
  withScene(
    async scene => {
      const engine = await scene.openEngine()
      const expiry = new Date(engine.clock.wallTime() + HOUR_MS).toISOString()
      await create(engine, 'far', { 'troupe.owner': FAR, 'troupe.expiry': expiry })
      await create(engine, 'farther', { 'troupe.owner': FAR.replace('build-7', 'build-8'), 'troupe.expiry': expiry })
      await create(engine, 'mine', { 'troupe.owner': toOwnerWord(), 'troupe.expiry': expiry })
      await create(engine, 'of job-2', { 'troupe.owner': FAR, 'troupe.job': 'job-2', 'troupe.expiry': expiry })
      assert.is(await scene.runtime.reap?.([FAR, toOwnerWord()], 'job-2'), 1)
      assert.equal(namesOf(scene), ['far', 'farther', 'mine'])
      assert.is(await scene.runtime.reap?.([FAR, toOwnerWord()]), 1)
      assert.equal(namesOf(scene), ['farther', 'mine'])
    },
    { left: ['container farther, created', 'container mine, created'] },
  ))

const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

function reap(argv: readonly string[], host: string): Promise<CliEnd> {
  const { DAYTONA_API_KEY: _key, ...rest } = process.env
  return new Promise((resolve, reject) => {
    const env = { ...rest, NO_COLOR: '1', DOCKER_HOST: host }
    const child = spawn(process.execPath, [program, 'reap', '--runtime', 'docker', ...argv], { env })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', exitCode => resolve({ exitCode, stdout, stderr }))
  })
}

test('troupe reap --runtime docker lists what a killed engine left, deletes it when told to, and then finds nothing', () =>
  withScene(async scene => {
    const { standIn } = scene
    await (await startOther(standIn, 2)).kill()
    const listed = await reap([], standIn.host)
    assert.is(listed.exitCode, 0, listed.stderr)
    assert.match(listed.stdout, /│ troupe-other-\d+-0 .*│ running .*│ job-2 .*│ dead .*│ sha256|│ environment/)
    assert.match(listed.stdout, /2 containers/)
    assert.match(listed.stderr, /nothing was deleted; --delete does it/)
    assert.is(standIn.containers.size, 2)
    const lines = (await reap(['--json'], standIn.host)).stdout.trim().split('\n')
    assert.equal(
      lines.map(line => (JSON.parse(line) as { standing: string }).standing),
      ['dead', 'dead'],
    )
    const deleted = await reap(['--delete'], standIn.host)
    assert.is(deleted.exitCode, 0, deleted.stderr)
    assert.match(deleted.stdout, /^deleted: 2 containers/)
    assert.equal(scene.leftovers(), [])
    assert.match((await reap(['--delete'], standIn.host)).stderr, /nothing is left over/)
  }))

test('what would not go is told, with exit status 1; where there is no engine, with 2', () =>
  withScene(async scene => {
    await (await startOther(scene.standIn, 1)).kill()
    scene.standIn.fault({ on: /^DELETE /, answer: { status: 403, message: 'not allowed' } })
    const refused = await reap(['--delete'], scene.standIn.host)
    assert.is(refused.exitCode, 1, refused.stderr)
    assert.match(refused.stderr, /not deleted: troupe-other.*not allowed/)
    assert.is((await reap(['--delete'], scene.standIn.host)).exitCode, 0)
    const nowhere = await reap([], 'unix:///nowhere/docker.sock')
    assert.is(nowhere.exitCode, 2)
    assert.match(nowhere.stderr, /no Docker engine answers at unix:\/\/\/nowhere\/docker\.sock \(as DOCKER_HOST says\)/)
    assert.match((await reap(['--kind', 'pool'], scene.standIn.host)).stderr, /--kind and --runtime docker/)
  }))

test.run()

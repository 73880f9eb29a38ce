import { existsSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { type HudProcess, startHud } from '../../../bench/peers/hud/process.ts'
import { treeOf } from '../../../bench/peers/process-tree.ts'
import { hasTag } from '../../../src/errors.ts'
import { suite } from '../../support/suite.ts'

const test = suite("HUD's process")

const script = fileURLToPath(new URL('./fixtures/peer.js', import.meta.url))
const place = { url: 'http://127.0.0.1:1/api', apiKey: 'key', sshPort: 4_022 }
const DEADLINE_MS = 10_000
const local = { runtime: 'local', rollouts: 8, width: 4 } as const

async function withPeer(given: { place?: typeof place }, body: (hud: HudProcess) => Promise<void>): Promise<void> {
  const hud = await startHud(process.execPath, { ...given, script })
  try {
    await body(hud)
  } finally {
    await hud.end(DEADLINE_MS)
  }
}

/** Resolves when it has ended, whether or not somebody has asked how; the test has a deadline. */
async function ended(pid: number): Promise<void> {
  while (/^State:\s+[^ZX]/m.test(statusOf(pid))) await setImmediate()
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

test('figures come back, and what went wrong there is told as it was said', () =>
  withPeer({}, async hud => {
    assert.is((await hud.rollouts(local, DEADLINE_MS)).ownCpuMs, 2)
    const error = await hud.rollouts({ ...local, rollouts: 16 }, DEADLINE_MS).catch(each => each)
    assert.ok(hasTag(error, 'hud-lost'))
    assert.match(error.message, /two of them failed/)
  }))

test('it has a home of its own, an alias of the gateway there, and none of our variables', async () => {
  process.env.TROUPE_TEST_SECRET = 'secret'
  let home = ''
  try {
    await withPeer({ place }, async hud => {
      const [found = '', alias = '', ...variables] = (await hud.usable({ width: 1, snapshot: 'any' }, DEADLINE_MS))
        .failures
      home = found
      assert.match(alias, /^Host \S+\n +HostName 127\.0\.0\.1\n +Port 4022\n$/)
      assert.ok(existsSync(home))
      assert.equal(variables, ['DAYTONA_API_KEY', 'DAYTONA_API_URL', 'HOME', 'LANG', 'PATH'])
    })
  } finally {
    delete process.env.TROUPE_TEST_SECRET
  }
  assert.not(existsSync(home))
})

test('one that does not end is killed, with all that it started', async () => {
  const hud = await startHud(process.execPath, { script })
  const { wallMs: child } = await hud.rollouts({ ...local, rollouts: 2_000 }, DEADLINE_MS)
  assert.equal(treeOf(hud.pid), [hud.pid, child])
  await hud.end(100)
  await ended(hud.pid)
  await ended(child)
})

test('a call to one that has ended fails, and says so', async () => {
  const hud = await startHud(process.execPath, { script })
  await hud.end(DEADLINE_MS)
  assert.ok(hasTag(await hud.rollouts(local, DEADLINE_MS).catch(each => each), 'hud-lost'))
})

test('a program that is not there is told of', async () => {
  const error = await startHud('/nowhere/python', { script }).catch(each => each)
  assert.ok(hasTag(error, 'hud-lost'))
  assert.match(error.message, /cannot be started/)
})

test.run()

/** The provider's own SDK, unmodified, against the emulator: each call of the table of calls. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Daytona, DaytonaConflictError, DaytonaNotFoundError, Image, type Sandbox } from '@daytonaio/sdk'
import * as assert from 'uvu/assert'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { suite } from '../support/suite.ts'
import { openThroughGateway, sayHello } from './support/gateway-client.ts'

const test = suite('emulator under the SDK')

let emulator: Emulator
let daytona: Daytona
const problems: unknown[] = []
const temporary = process.env.TMPDIR
let own = ''

test.before(async () => {
  // A directory of its own tells what this emulator leaves from what others are doing.
  own = mkdtempSync(join(tmpdir(), 'troupe-test-'))
  chmodSync(own, 0o711) // commands run as users of their own, who pass through it
  process.env.TMPDIR = own
  emulator = await startEmulator({ speed: 100, seed: 1, onError: error => problems.push(error) })
  daytona = new Daytona({ apiUrl: emulator.url, apiKey: emulator.apiKey, target: 'us' })
})

test.after(async () => {
  await daytona[Symbol.asyncDispose]()
  await emulator.close()
  if (temporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = temporary
  const left = readdirSync(own)
  rmSync(own, { recursive: true, force: true })
  assert.equal(problems, [])
  assert.equal(emulator.existing(), 0)
  assert.equal(left, [])
})

async function withSandbox(body: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await daytona.create({ ephemeral: true })
  try {
    await body(sandbox)
  } finally {
    await sandbox.delete(60, true)
  }
}

/** What the SDK's own listing cannot ask for. */
async function unclaimed(): Promise<readonly string[]> {
  const answer = await fetch(`${emulator.url}/sandbox?includeWarm=true`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  })
  const { items } = (await answer.json()) as { items: readonly { id: string; warmPoolId?: string }[] }
  return items.filter(({ warmPoolId }) => warmPoolId !== undefined).map(({ id }) => id)
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it was expected to fail')
}

test('create, exec, delete: the command runs, and then there is no such sandbox', async () => {
  const sandbox = await daytona.create({ name: 'first', labels: { owner: 'a' } })
  assert.is(sandbox.state, 'started')
  const { exitCode, result } = await sandbox.process.executeCommand('echo $GREETING; pwd; exit 3', undefined, {
    GREETING: "it's here",
  })
  assert.is(exitCode, 3)
  assert.is(result, "it's here\n/workspace\n")
  await sandbox.delete(60, true)
  assert.ok((await rejection(daytona.get('first'))) instanceof DaytonaNotFoundError)
})

test('listings go by labels and pages, and labels can be changed', async () => {
  const made = await Promise.all([1, 2, 3].map(n => daytona.create({ labels: { job: 'x', n: String(n) } })))
  const listed = async (labels: Record<string, string>) => {
    const ids: string[] = []
    for await (const { id } of daytona.list({ labels, limit: 2 })) ids.push(id)
    return ids.sort()
  }
  assert.equal(await listed({ job: 'x' }), made.map(({ id }) => id).sort())
  await made[0]?.setLabels({ job: 'y' })
  assert.equal(await listed({ job: 'y' }), [made[0]?.id])
  await Promise.all(made.map(sandbox => sandbox.delete(60, true)))
  assert.equal(await listed({}), [])
})

test('a name is taken once', async () => {
  const sandbox = await daytona.create({ name: 'twin' })
  assert.ok((await rejection(daytona.create({ name: 'twin' }))) instanceof DaytonaConflictError)
  await sandbox.delete(60, true)
})

test('stop and start keep the files; intervals and times to live are kept', () =>
  withSandbox(async sandbox => {
    await sandbox.setAutoDeleteInterval(-1)
    await sandbox.setAutostopInterval(7)
    await sandbox.setTtl(90)
    await sandbox.fs.uploadFile(Buffer.from('kept'), 'note.txt')
    await sandbox.stop()
    assert.is(sandbox.state, 'stopped')
    await sandbox.start()
    assert.is((await sandbox.fs.downloadFile('note.txt')).toString(), 'kept')
    await sandbox.refreshData()
    assert.is(sandbox.autoStopInterval, 7)
    assert.ok(sandbox.autoDestroyAt)
  }))

test('files go up and come down byte for byte, and are listed, made and deleted', () =>
  withSandbox(async ({ fs }) => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7) % 256))
    await fs.createFolder('deep/er', '755')
    await fs.uploadFiles([
      { source: bytes, destination: 'deep/er/one.bin' },
      { source: Buffer.from('two'), destination: '/workspace/deep/two.txt' },
    ])
    assert.ok((await fs.downloadFile('deep/er/one.bin')).equals(bytes))
    const listed = await fs.listFiles('deep')
    assert.equal(listed.map(({ name, isDir }) => [name, isDir]).sort(), [
      ['er', true],
      ['two.txt', false],
    ])
    assert.is((await fs.getFileDetails('deep/two.txt')).size, 3)
    const [missing] = await fs.downloadFiles([{ source: 'nowhere.txt' }])
    assert.match(missing?.error ?? '', /not found/)
    await fs.deleteFile('deep', true)
    assert.equal(await fs.listFiles('.'), [])
    assert.match(String(await rejection(fs.uploadFile(Buffer.from('x'), '/etc/passwd'))), /\/workspace only/)
  }))

test('a session runs commands, at once or on its own, with logs apart and as they come', () =>
  withSandbox(async ({ process }) => {
    await process.createSession('s')
    const done = await process.executeSessionCommand('s', { command: 'echo out; echo err >&2; exit 4' })
    assert.equal([done.exitCode, done.stdout, done.stderr], [4, 'out\n', 'err\n'])
    const going = await process.executeSessionCommand('s', {
      command: 'echo on; read -t 30 x < /dev/null; echo off >&2',
      runAsync: true,
    })
    const heard = { out: '', err: '' }
    await process.getSessionCommandLogs(
      's',
      going.cmdId,
      text => {
        heard.out += text
      },
      text => {
        heard.err += text
      },
    )
    assert.equal(heard, { out: 'on\n', err: 'off\n' })
    assert.is((await process.getSessionCommand('s', going.cmdId)).exitCode, 0)
    assert.is((await process.getSession('s')).commands?.length, 2)
    await process.deleteSession('s')
    assert.equal(await process.listSessions(), [])
  }))

test('a sandbox that was told to serve answers hello through the SSH gateway', () =>
  withSandbox(async sandbox => {
    await sandbox.process.createSession('serve')
    const access = await sandbox.createSshAccess(10)
    assert.is((await sandbox.validateSshAccess(access.token)).valid, true)
    const gateway = await openThroughGateway(emulator.sshPort, access.token)
    try {
      assert.is(await sayHello(gateway, 8765), undefined)
      await sandbox.process.executeSessionCommand('serve', {
        command: 'troupe serve environments/calc/env.ts --host 0.0.0.0 --port 8765 --insecure',
        runAsync: true,
      })
      let hello: string | undefined
      const until = performance.now() + 20_000
      while (hello === undefined && performance.now() < until) hello = await sayHello(gateway, 8765)
      assert.match(hello ?? 'never', /"result":\{"session_id":"sess-/)
    } finally {
      gateway.end()
    }
    await sandbox.revokeSshAccess(access.token)
    assert.is((await sandbox.validateSshAccess(access.token)).valid, false)
    assert.match(String(await rejection(openThroughGateway(emulator.sshPort, access.token))), /authentication/i)
  }))

test('a preview address has a token, and a signed one can be ended', () =>
  withSandbox(async sandbox => {
    const { url, token } = await sandbox.getPreviewLink(8765)
    assert.is((await fetch(url)).status, 401)
    const nothing = await fetch(url, { headers: { 'x-daytona-preview-token': token } })
    assert.is(nothing.status, 400)
    const signed = await sandbox.getSignedPreviewUrl(8765, 60)
    assert.is((await fetch(signed.url)).status, 400)
    await sandbox.expireSignedPreviewUrl(8765, signed.token)
    assert.is((await fetch(signed.url)).status, 404)
  }))

test('a fork has the files of its parent, and a parent bears one at a time', () =>
  withSandbox(async parent => {
    await parent.fs.uploadFile(Buffer.from('inherited'), 'a.txt')
    const first = parent.fork({ name: 'child' })
    const second = await rejection(parent.fork({ name: 'sibling' }))
    assert.ok(second instanceof DaytonaConflictError, String(second))
    const child = await first
    assert.is((await child.fs.downloadFile('a.txt')).toString(), 'inherited')
    await child.fs.uploadFile(Buffer.from('changed'), 'a.txt')
    assert.is((await parent.fs.downloadFile('a.txt')).toString(), 'inherited')
    await child.delete(60, true)
  }))

test('a child serves what its parent served', () =>
  withSandbox(async parent => {
    await parent.process.createSession('serve')
    const command = 'troupe serve environments/calc/env.ts'
    const { cmdId } = await parent.process.executeSessionCommand('serve', { command, runAsync: true })
    while ((await parent.process.getSessionCommandLogs('serve', cmdId)).stdout === '');
    const child = await parent.fork()
    const gateway = await openThroughGateway(emulator.sshPort, (await child.createSshAccess()).token)
    try {
      let hello: string | undefined
      const until = performance.now() + 10_000
      while (hello === undefined && performance.now() < until) hello = await sayHello(gateway, 8765)
      assert.match(hello ?? 'never', /"session_id"/)
    } finally {
      gateway.end()
      await child.delete(60, true)
    }
  }))

test('a snapshot is built from a Dockerfile and its pushed context, used, and deleted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-test-'))
  try {
    writeFileSync(join(directory, 'env.ts'), 'export {}')
    writeFileSync(join(directory, 'Dockerfile.hud'), 'FROM node:22\nCOPY env.ts /app/\nCMD ["troupe"]\n')
    const lines: string[] = []
    const image = Image.fromDockerfile(join(directory, 'Dockerfile.hud'))
    const snapshot = await daytona.snapshot.create({ name: 'built', image }, { onLogs: line => lines.push(line) })
    assert.is(snapshot.state, 'active')
    assert.match(lines.join('\n'), /Created snapshot built \(active\)/)
    const sandbox = await daytona.create({ snapshot: 'built' })
    assert.is(sandbox.snapshot, 'built')
    await sandbox.delete(60, true)
    assert.ok((await daytona.snapshot.list()).items.some(({ name }) => name === 'built'))
    await daytona.snapshot.delete(snapshot)
    assert.ok((await rejection(daytona.snapshot.get('built'))) instanceof DaytonaNotFoundError)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('a Dockerfile that is none fails with its reason', async () => {
  const image = Image.base('node:22').dockerfileCommands(['FETCH everything'])
  const failed = await rejection(daytona.snapshot.create({ name: 'broken', image }))
  assert.match(String(failed), /unknown instruction: FETCH/)
  await daytona.snapshot.delete('broken')
})

test('a warm pool answers a create that asks for nothing of its own', async () => {
  const { snapshot } = await daytona.create().then(async one => {
    await one.delete(60, true)
    return one
  })
  const pool = await daytona.warmPool.create({ snapshot: snapshot ?? '', pool: 2, target: 'us' })
  assert.ok(
    (await rejection(daytona.warmPool.create({ snapshot: snapshot ?? '', pool: 1 }))) instanceof DaytonaConflictError,
  )
  const until = performance.now() + 10_000
  while (emulator.existing() < 2 && performance.now() < until) await daytona.warmPool.list()
  const visible: string[] = []
  for await (const { id } of daytona.list()) visible.push(id)
  assert.equal(visible, [])
  const members = await unclaimed()
  assert.is(members.length, 2)
  const claimed = await daytona.create({ name: 'claimed' })
  assert.ok(members.includes(claimed.id))
  const own = await daytona.create({ envVars: { OWN: '1' } })
  assert.not.ok(members.includes(own.id), 'variables of its own are no claim')
  await own.delete(60, true)
  assert.is(claimed.warmPoolId, undefined)
  assert.is(claimed.name, 'claimed')
  await daytona.warmPool.update(pool.id, { pool: 0 })
  await daytona.warmPool.delete(pool.id)
  await claimed.delete(60, true)
  while (emulator.existing() > 0 && performance.now() < until) await daytona.warmPool.list()
  assert.is(emulator.existing(), 0)
})

test.run()

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { makeWorkspaceHost, type WorkspaceHostOptions } from '../../../src/environment/workspace/index.ts'
import { hasTag } from '../../../src/errors.ts'
import { openExecShell } from '../../../src/wire/exec-shell.ts'
import { openSshShell } from '../../../src/wire/ssh-shell.ts'
import { rejection } from '../../contracts/shell.ts'
import { suite } from '../../support/suite.ts'
import { bindingOf, type OpenedHost, openWorkspace, shellOn } from './open-workspace.ts'

const test = suite('workspace host')
let base = ''
test.beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-host-'))
  if (process.getuid?.() === 0) chmodSync(base, 0o755)
})
test.afterEach(async () => {
  for (const { closeHost } of hosts.splice(0)) await closeHost()
  const left = readdirSync(base)
  rmSync(base, { recursive: true, force: true })
  assert.equal(left, [], 'a closed host leaves nothing')
})

const hosts: OpenedHost[] = []
async function open(options: WorkspaceHostOptions = {}): Promise<OpenedHost> {
  const opened = await openWorkspace({ baseDirectory: base, ...options })
  hosts.push(opened)
  return opened
}

test('a session is announced as exec/1 and ssh/2, with secrets of its own', async () => {
  const opened = await open()
  const other = await opened.host.open('sess-2')
  const [exec, ssh] = opened.bindings
  assert.equal([exec?.name, exec?.protocol, ssh?.name, ssh?.protocol], ['exec', 'exec/1', 'shell', 'ssh/2'])
  const { user, shell, cwd, isolation, host_pubkey, client_key } = bindingOf(opened, 'ssh/2').params
  assert.equal([user, shell, cwd, isolation], ['agent', 'bash', '/workspace', 'bwrap'])
  assert.match(String(host_pubkey), /^ssh-ed25519 AAAA/)
  assert.match(String(client_key), /^-----BEGIN OPENSSH PRIVATE KEY-----/)
  assert.is.not(client_key, bindingOf(other, 'ssh/2').params.client_key)
  assert.is.not(exec?.params.token, bindingOf(other, 'exec/1').params.token)
  await opened.closeHost()
})

test('both shells and the template work in the same directory', async () => {
  const opened = await open()
  const { workspace } = opened
  const [exec, ssh] = [await opened.shell('exec/1'), await opened.shell('ssh/2')]
  await workspace.write('from-template', 'a')
  await exec.writeFile('from-exec', 'b')
  await ssh.writeFile('from-ssh', 'c')
  assert.is((await ssh.exec('cat from-*; echo changed > from-template; rm from-exec')).stdout, 'bca')
  assert.is(await workspace.read('from-template'), 'changed\n')
  assert.is((await workspace.exec('echo more >> from-ssh; cat from-ssh')).stdout, 'cmore\n')
  await workspace.remove('from-ssh')
  assert.ok(hasTag(await rejection(exec.readFile('from-ssh')), 'file-not-read'))
  await Promise.all([exec.close(), ssh.close()])
  await opened.closeHost()
})

test('a wrong token, a wrong key and a wrong host key are refused', async () => {
  const opened = await open()
  const other = await opened.host.open('sess-2')
  const exec = bindingOf(opened, 'exec/1')
  const token = String(exec.params.token)
  for (const wrong of [`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`, token.slice(0, 16), '']) {
    const stream = await opened.host.connect('exec')
    const shell = await openExecShell(stream, { ...exec, params: { token: wrong } }, systemClock)
    assert.ok(hasTag(await rejection(shell.exec('true')), 'exec-token-refused'))
  }
  const ssh = bindingOf(opened, 'ssh/2')
  const theirs = bindingOf(other, 'ssh/2').params
  await other.close()
  const refused = async (params: Readonly<Record<string, unknown>>) =>
    rejection(
      openSshShell(await opened.host.connect('shell'), { ...ssh, params: { ...ssh.params, ...params } }, systemClock),
    )
  assert.ok(hasTag(await refused({ client_key: theirs.client_key }), 'binding-not-usable'), 'a closed session’s key')
  assert.ok(hasTag(await refused({ user: 'root' }), 'binding-not-usable'))
  const hostKey = String(ssh.params.host_pubkey).replace(/A( troupe)$|.( troupe)$/, (_, a) =>
    a ? 'B troupe' : 'A troupe',
  )
  assert.ok(hasTag(await refused({ host_pubkey: hostKey }), 'binding-not-usable'))
  await opened.closeHost()
})

test('closing a session ends its commands and shells, and removes its directory and nobody else’s', async () => {
  const opened = await open()
  const other = await opened.host.open('sess-2')
  const shells = [await opened.shell('exec/1'), await opened.shell('ssh/2')]
  const pending = [
    ...shells.map(shell => rejection(shell.exec('echo $$ > pid; sleep 60'))),
    rejection(opened.workspace.exec('setsid sleep 60 & wait')),
  ]
  await shells[0]?.exec('until test -s pid; do sleep 0.01; done; mkdir -p locked/in; chmod 000 locked')
  await opened.close()
  assert.is(existsSync(opened.workspace.directory), false)
  for (const error of await Promise.all(pending)) assert.ok(error instanceof Error)
  assert.ok(hasTag(await rejection(opened.workspace.exec('true')), 'workspace-closed'))
  assert.is((await other.workspace.exec('echo still')).stdout, 'still\n')
  await Promise.all(shells.map(shell => shell.close()))
  await opened.closeHost()
})

test('directories nested deeper than a path can be long are removed as well', async () => {
  const opened = await open()
  const { exitCode } = await opened.workspace.exec(
    'd=$(printf "%0200d" 0); for i in $(seq 40); do mkdir $d && cd $d || exit 1; done',
  )
  assert.is(exitCode, 0)
  await opened.closeHost()
})

test('closing the host while sessions open and commands wait leaves nothing', async () => {
  const opened = await open({ maxCommands: 1 })
  const commands = ['a', 'b', 'c'].map(name => rejection(opened.workspace.exec(`sleep 60; echo ${name}`)))
  const late = rejection(opened.host.open('sess-late'))
  await opened.closeHost()
  for (const error of await Promise.all(commands)) assert.ok(hasTag(error, 'workspace-closed'), String(error))
  await late
  assert.ok(hasTag(await rejection(opened.host.open('sess-after')), 'workspace-closed'))
})

test('commands of all sessions share the host’s turns, and a time limit starts with the turn', async () => {
  const opened = await open({ maxCommands: 1 })
  const other = await opened.host.open('sess-2')
  const shell = await shellOn(opened.host, other, 'exec/1')
  const slow = opened.workspace.exec('sleep 0.6; echo slow')
  const results = await Promise.all([slow, shell.exec('echo quick', { timeoutMs: 500 })])
  assert.equal(
    results.map(({ stdout }) => stdout),
    ['slow\n', 'quick\n'],
  )
  await shell.close()
  await opened.closeHost()
})

test('without isolation the shape is the same, in the real directory', async () => {
  const opened = await open({ isolation: 'none' })
  const shell = await opened.shell('exec/1')
  assert.is(shell.cwd, opened.workspace.directory)
  assert.equal(await shell.exec('pwd; echo x > f; (sleep 60 &) ; exit 2'), {
    exitCode: 2,
    stdout: `${opened.workspace.directory}\n`,
    stderr: '',
  })
  assert.is(await shell.readFile(`${shell.cwd}/f`), 'x\n')
  const clean = await opened.workspace.runClean({
    argv: ['/bin/sh', '-c', 'ls -A; echo $A > out'],
    files: new Map([['only', '']]),
    env: { A: '1' },
    collect: ['out'],
    timeoutMs: 5_000,
  })
  assert.equal([clean.stdout, clean.collected.get('out')], ['only\n', '1\n'])
  await shell.close()
  await opened.closeHost()
})

test('a command longer than an argument can be is told so, and runs as stdin', async () => {
  const opened = await open()
  const shell = await opened.shell('exec/1')
  const script = `# ${'x'.repeat(140_000)}\necho ran\n`
  assert.ok(hasTag(await rejection(shell.exec(script)), 'command-too-long'))
  assert.is((await shell.exec('bash -s', { stdin: script })).stdout, 'ran\n')
  assert.is((await shell.exec(`# ${'x'.repeat(130_000)}\necho long`)).stdout, 'long\n')
  await shell.close()
  await opened.closeHost()
})

test('a session cannot be opened twice, and nobody serves other capabilities', async () => {
  const opened = await open()
  assert.ok(hasTag(await rejection(opened.host.open('sess-00000001')), 'workspace-in-use'))
  assert.ok(hasTag(await rejection(opened.host.connect('browser')), 'unknown-capability'))
  await opened.closeHost()
})

test('what a killed host left behind goes when the next one starts; a living one’s stays', async () => {
  const living = await open()
  const name = basename(dirname(living.workspace.directory))
  const abandoned = join(base, name.replace(/-\d+-\w+$/, '-4194304999-abcdef'))
  mkdirSync(join(abandoned, 'session-1'), { recursive: true })
  const next = await open()
  assert.is(existsSync(abandoned), false)
  assert.is((await living.workspace.exec('echo here')).stdout, 'here\n')
  await next.closeHost()
})

test('a missing bwrap is named, with the way out', async () => {
  const path = process.env.PATH
  process.env.PATH = '/nonexistent'
  const host = makeWorkspaceHost({ baseDirectory: base })
  try {
    const error = await rejection(host.preflight())
    assert.ok(hasTag(error, 'bwrap-missing'))
    assert.match(String(error), /apt-get install -y bubblewrap.*--unsafe-no-isolation/)
  } finally {
    process.env.PATH = path
  }
  await host.preflight()
  await host.close()
})

test.run()

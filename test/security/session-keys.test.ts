import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { makeWorkspaceHost } from '../../src/environment/workspace/index.ts'
import type { OpenWorkspace, WorkspaceHost } from '../../src/environment/workspace.ts'
import { hasTag } from '../../src/errors.ts'
import type { Binding } from '../../src/wire/binding.ts'
import { openExecShell } from '../../src/wire/exec-shell.ts'
import type { Shell } from '../../src/wire/shell.ts'
import { openSshShell } from '../../src/wire/ssh-shell.ts'
import { rejection } from '../contracts/shell.ts'
import { bindingOf } from '../environment/workspace/open-workspace.ts'
import { suite } from '../support/suite.ts'

const test = suite('keys of sessions')
const PROTOCOLS = ['exec/1', 'ssh/2'] as const
let base = ''
let host: WorkspaceHost

test.beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-keys-'))
  if (process.getuid?.() === 0) chmodSync(base, 0o755)
  host = makeWorkspaceHost({ baseDirectory: base })
})
test.afterEach(async () => {
  await host.close()
  const left = readdirSync(base)
  rmSync(base, { recursive: true, force: true })
  assert.equal(left, [])
})

/** A shell with this binding's key. A wrong key shows when the shell is opened, or with its first command. */
async function openWith(binding: Binding): Promise<Shell> {
  const stream = await host.connect(binding.name)
  const open = binding.protocol === 'exec/1' ? openExecShell : openSshShell
  return open(stream, binding, systemClock)
}

async function refusal(binding: Binding): Promise<unknown> {
  return rejection(openWith(binding).then(shell => shell.exec('echo in').finally(() => shell.close())))
}

async function openMarked(id: string): Promise<OpenWorkspace> {
  const opened = await host.open(id)
  await opened.workspace.write('whose', id)
  return opened
}

const secretOf = ({ params }: Binding) => String(params.token ?? params.client_key)

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a key opens its own session, and never another that is open beside it`, async () => {
    const sessions = await Promise.all(['sess-1', 'sess-2', 'sess-3'].map(openMarked))
    const bindings = sessions.map(opened => bindingOf(opened, protocol))
    assert.is(new Set(bindings.map(secretOf)).size, 3)
    for (const [index, binding] of bindings.entries()) {
      const shell = await openWith(binding)
      assert.is((await shell.exec('cat whose')).stdout, `sess-${index + 1}`)
      await shell.close()
    }
  })

  test(`${protocol}: with its session's end a key opens nothing, and what it had opened ends`, async () => {
    const opened = await openMarked('sess-1')
    const other = await openMarked('sess-2')
    const binding = bindingOf(opened, protocol)
    const shell = await openWith(binding)
    assert.is((await shell.exec('cat whose')).stdout, 'sess-1')
    await opened.close()
    const error = await rejection(shell.exec('true'))
    assert.ok(hasTag(error, 'shell-lost') || hasTag(error, 'workspace-closed'), String(error))
    const tag = protocol === 'exec/1' ? 'exec-token-refused' : 'binding-not-usable'
    assert.ok(hasTag(await refusal(binding), tag))
    await shell.close()
    assert.is((await other.workspace.exec('cat whose')).stdout, 'sess-2')
  })

  test(`${protocol}: a session opened anew under the same id has another key, and the old one stays out`, async () => {
    const first = await openMarked('sess-1')
    const old = bindingOf(first, protocol)
    await first.close()
    const again = await openMarked('sess-1')
    const fresh = bindingOf(again, protocol)
    assert.is.not(secretOf(old), secretOf(fresh))
    const tag = protocol === 'exec/1' ? 'exec-token-refused' : 'binding-not-usable'
    assert.ok(hasTag(await refusal(old), tag))
    const shell = await openWith(fresh)
    assert.is((await shell.exec('cat whose')).stdout, 'sess-1')
    await shell.close()
  })
}

test('a key of another host opens nothing here, though its session has the same id', async () => {
  await openMarked('sess-1')
  const elsewhere = makeWorkspaceHost({ baseDirectory: base })
  try {
    const theirs = await elsewhere.open('sess-1')
    for (const [protocol, tag] of [
      ['exec/1', 'exec-token-refused'],
      ['ssh/2', 'binding-not-usable'],
    ] as const) {
      const binding = bindingOf(theirs, protocol)
      const { host_pubkey } = bindingOf(await host.open(`sess-${protocol.slice(0, 3)}`), 'ssh/2').params
      assert.ok(hasTag(await refusal({ ...binding, params: { ...binding.params, host_pubkey } }), tag))
    }
  } finally {
    await elsewhere.close()
  }
})

test.run()

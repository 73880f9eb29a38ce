import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { listSandboxes } from '../../src/runtimes/daytona/account/list-sandboxes.ts'
import { until, withAccount } from '../runtimes/daytona/provider-pool/fixtures/account-scene.ts'
import { startOther } from '../runtimes/daytona/provider-pool/fixtures/other-process.ts'
import type { CliEnd } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('troupe reap')

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

function reap(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<CliEnd> {
  const { DAYTONA_API_KEY: _key, DAYTONA_API_URL: _url, ...rest } = process.env
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, 'reap', ...argv], { env: { ...rest, NO_COLOR: '1', ...env } })
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

test('it lists what a killed engine left, deletes it when told to, and then finds nothing', () =>
  withAccount({}, async ({ account, emulator }) => {
    const env = { DAYTONA_API_URL: emulator.url, DAYTONA_API_KEY: emulator.apiKey }
    await (await startOther(emulator, 'sandboxes', 2)).kill()
    await (await startOther(emulator, 'pool', 1)).kill()
    await account.sandboxes.createSandbox({ labels: { team: 'others' } })
    await until(async () => emulator.existing() === 5)

    const listed = await reap([], env)
    assert.is(listed.exitCode, 0, listed.stderr)
    assert.match(listed.stdout, /│ sandbox .*│ job-2 .*│ dead .*│ us/)
    assert.match(listed.stdout, /2 sandboxes, 1 pool, 1 pool member, 1 pool anchor; 4 vCPUs, 4 GiB of memory, 12 GiB/)
    assert.match(listed.stderr, /nothing was deleted; --delete does it/)
    assert.is(emulator.existing(), 5)

    const asJson = await reap(['--json', '--kind', 'sandbox'], env)
    const lines = asJson.stdout.trim().split('\n')
    assert.equal(
      lines.map(line => (JSON.parse(line) as { kind: string }).kind),
      ['sandbox', 'sandbox'],
    )

    const deleted = await reap(['--delete'], env)
    assert.is(deleted.exitCode, 0, deleted.stderr)
    assert.match(deleted.stdout, /^deleted: 2 sandboxes, 1 pool, 1 pool member, 1 pool anchor;/)
    assert.equal(
      (await listSandboxes(account)).map(({ labels }) => labels),
      [{ team: 'others' }],
    )

    const again = await reap(['--delete'], env)
    assert.is(again.exitCode, 0)
    assert.match(again.stderr, /nothing is left over/)
  }))

test('without a key it says what to set', async () => {
  const { exitCode, stderr } = await reap([], {})
  assert.is(exitCode, 2)
  assert.match(stderr, /DAYTONA_API_KEY/)
})

test('kinds and ages that are none are bad input', async () => {
  assert.match((await reap(['--kind', 'volume'], {})).stderr, /sandbox, pool, snapshot/)
  const { exitCode, stderr } = await reap(['--older-than', 'yesterday'], {})
  assert.is(exitCode, 2)
  assert.match(stderr, /90s, 30m, 2h or 7d/)
})

test.run()

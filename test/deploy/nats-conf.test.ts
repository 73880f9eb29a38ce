/** deploy/nats: keys as they are said to be, and configurations that a real nats-server reads. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { makeKeys } from '../cluster/support/keys.ts'
import { NATS_PROGRAM } from '../cluster/support/nats.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('deploy/nats')
const run = promisify(execFile)

test('make-keys writes seeds that their owner alone reads, and replaces nothing', () =>
  withFiles({}, async directory => {
    const keys = join(directory, 'keys')
    const { variables } = await makeKeys(keys)
    const names = (await readdir(keys)).sort()
    const secret = ['ca.key', 'coordinator.nk', 'observer.nk', 'public.env', 'tls.key', 'worker.nk']
    assert.equal(names, [...secret, 'ca.crt', 'tls.crt'].sort())
    for (const name of secret) assert.is((await stat(join(keys, name))).mode & 0o077, 0, name)
    assert.equal(Object.keys(variables), ['TROUPE_COORDINATOR_NKEY', 'TROUPE_WORKER_NKEY', 'TROUPE_OBSERVER_NKEY'])
    for (const key of Object.values(variables)) assert.match(key, /^U[A-Z2-7]{55}$/)
    const { stdout } = await run('openssl', ['x509', '-in', join(keys, 'tls.crt'), '-noout', '-ext', 'subjectAltName'])
    assert.match(stdout, 'DNS:nats, DNS:localhost, IP Address:127.0.0.1')
    const again = await makeKeys(keys).then(
      () => undefined,
      (error: { readonly stderr: string }) => error.stderr,
    )
    assert.match(again ?? '', /has files/)
  }))

/** With the paths of containers led into `directory`, and nothing else changed. */
async function copyHere(directory: string): Promise<void> {
  await cp(join(repository, 'deploy/nats'), directory, { recursive: true })
  await mkdir(join(directory, 'data'))
  for (const name of ['troupe.conf', 'cluster.conf']) {
    const text = await readFile(join(directory, name), 'utf8')
    const led = text.replaceAll('/etc/nats/tls/', `${directory}/keys/`).replaceAll('/data/', `${directory}/data/`)
    assert.is.not(led, text)
    await writeFile(join(directory, name), led)
  }
}

test('nats-server takes both configurations, and none without a key', () =>
  withFiles({}, async directory => {
    await copyHere(directory)
    const { variables } = await makeKeys(join(directory, 'keys'))
    const env = { ...process.env, ...variables, NATS_NAME: 'nats-0', NATS_ROUTES: '["nats://nats-1:6222"]' }
    const check = (name: string, variables: NodeJS.ProcessEnv) =>
      run(NATS_PROGRAM, ['-t', '-c', join(directory, name)], { env: variables })
    for (const name of ['troupe.conf', 'cluster.conf'])
      assert.match((await check(name, env)).stderr, /configuration file .* is valid/)
    const without = { ...env, TROUPE_WORKER_NKEY: undefined }
    const refused = await check('troupe.conf', without).then(
      () => undefined,
      (error: { readonly stderr: string }) => error.stderr,
    )
    assert.match(refused ?? '', /TROUPE_WORKER_NKEY/)
  }))

test.run()

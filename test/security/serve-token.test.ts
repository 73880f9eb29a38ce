import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { toRequest } from '../contracts/runtime.ts'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { LOOPBACK, listeningHosts, startServing } from './serving.ts'

const test = suite('who may use what is served')

const TOKEN = 'b7f1c0ffee5eed5eed5eed5eed5eed00'
/** Says what it sees of the server's variables. */
const ENVIRONMENT = `import { Environment } from 'troupe/environment'
export const env = new Environment('seen', { version: '1.0.0' })
env.template('look', {}, async function* () { yield 'sees ' + (process.env.TROUPE_SERVE_TOKEN ?? 'nothing'); yield 1 })`
const HOSTS = ['--host', '0.0.0.0', '--port', '0']
const WRONG: readonly Readonly<Record<string, string>>[] = [{}, { TROUPE_SERVE_TOKEN: 'another-token-than-that' }]
let cwd = ''

test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-token-'))
  await writeFile(join(cwd, 'env.ts'), ENVIRONMENT)
  await writeFile(join(cwd, 'token'), `${TOKEN}\n`)
  await writeFile(join(cwd, 'short'), 'secret')
  await writeFile(join(cwd, 'empty'), '\n')
})
test.after(() => rm(cwd, { recursive: true, force: true }))

test('beyond loopback nothing is served without a token, and the way on is named', async () => {
  const { exitCode, stdout, stderr } = await troupe(['serve', 'env.ts', ...HOSTS], { cwd })
  assert.equal([exitCode, stdout], [2, ''])
  for (const way of ['--token-file', 'TROUPE_SERVE_TOKEN', '--insecure', "HUD's own clients send none"])
    assert.ok(stderr.includes(way), stderr)
})

for (const [title, argv, variables, why] of [
  ['a short token', ['--token-file', 'short'], {}, 'it has 6 characters'],
  ['an empty file', ['--token-file', 'empty'], {}, 'it has 0 characters'],
  ['a file that is not there', ['--token-file', 'nowhere'], {}, 'cannot be read from nowhere'],
  ['an empty variable', [], { TROUPE_SERVE_TOKEN: '' }, 'it has 0 characters'],
  ['a token of two words', [], { TROUPE_SERVE_TOKEN: `${TOKEN} ${TOKEN}` }, 'more than one word'],
  ['--insecure beside a token', ['--insecure'], { TROUPE_SERVE_TOKEN: TOKEN }, 'leave one of them out'],
] as const)
  test(`${title} is refused in words, which do not hold it`, async () => {
    const { exitCode, stderr } = await troupe(['serve', 'env.ts', ...HOSTS, ...argv], { cwd, variables })
    assert.is(exitCode, 2)
    assert.match(stderr, why)
    assert.not.ok(stderr.includes(TOKEN) || stderr.includes('secret '), stderr)
  })

for (const [title, argv, variables] of [
  ['a file', ['--token-file', 'token'], {}],
  ['a variable', [], { TROUPE_SERVE_TOKEN: TOKEN }],
] as const)
  test(`a token out of ${title} lets in who shows it, and nobody else sees it`, async () => {
    const server = await startServing(['serve', 'env.ts', ...HOSTS, ...argv], { cwd, variables })
    try {
      const url = `127.0.0.1:${/^HUD_SERVE_PORT=(\d+)$/.exec(server.line)?.[1]}`
      const start = ['task', 'start', 'look', '--url', url]
      for (const wrong of WRONG) {
        const { exitCode, stderr } = await troupe(start, { cwd, variables: wrong })
        assert.is(exitCode, 2)
        assert.match(stderr, 'wants a token')
        assert.match(stderr, 'TROUPE_SERVE_TOKEN')
        assert.not.ok(stderr.includes('another-token'), stderr)
      }
      const { exitCode, stdout, stderr } = await troupe(start, { cwd, variables: { TROUPE_SERVE_TOKEN: TOKEN } })
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, 'sees nothing')
      assert.not.ok(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8').includes(TOKEN))
      assert.not.ok(`${server.line}${server.stderr()}${stdout}${stderr}`.includes(TOKEN))
    } finally {
      await server.end()
    }
  })

test('--insecure serves everybody, and says so', async () => {
  const server = await startServing(['serve', 'env.ts', ...HOSTS, '--insecure'], { cwd })
  try {
    const url = `127.0.0.1:${/^HUD_SERVE_PORT=(\d+)$/.exec(server.line)?.[1]}`
    assert.is((await troupe(['task', 'list', '--url', url], { cwd })).exitCode, 0)
    assert.match(server.stderr(), '--insecure: whoever reaches 0.0.0.0:')
    assert.not.equal(listeningHosts(server.pid), [LOOPBACK], 'what listens everywhere is seen to')
  } finally {
    await server.end()
  }
})

for (const [argv, sockets] of [
  [['serve', 'env.ts', '--port', '0'], 1],
  [['serve', 'env.ts', '--port', '0', '--insecure'], 1],
  [['emulator', '--port', '0', '--ssh-port', '0'], 2],
] as const)
  test(`troupe ${argv.join(' ')} listens on loopback alone`, async () => {
    const server = await startServing(argv, { cwd })
    try {
      assert.equal(
        listeningHosts(server.pid),
        Array.from({ length: sockets }, () => LOOPBACK),
      )
    } finally {
      await server.end()
    }
  })

for (const transport of ['tcp', 'unix'] as const)
  test(`the local runtime's host over ${transport} listens on loopback, or on no port at all`, async () => {
    const runtime = new LocalRuntime(join(cwd, 'env.ts'), { transport })
    try {
      const sandbox = await runtime.provision(toRequest('one'))
      assert.equal(listeningHosts(process.pid), transport === 'tcp' ? [LOOPBACK] : [])
      await sandbox.dispose({ sessionEnded: false })
    } finally {
      await runtime.close()
    }
  })

test.run()

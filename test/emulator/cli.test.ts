import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { toQuota, toRateLimits } from '../../src/cli/emulator-arguments.ts'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('troupe emulator')

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

interface Started {
  readonly url: string
  readonly stdout: string
  readonly stderr: string
}

/** The command for the length of `body`, ended by a signal; resolves with its exit status. */
async function withCommand(flags: readonly string[], body: (started: Started) => Promise<void>): Promise<unknown> {
  const child = spawn(process.execPath, [program, 'emulator', '--port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close')
  try {
    await new Promise<void>(resolve => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
        if (stdout.includes('API_KEY')) resolve()
      })
      child.once('close', () => resolve())
    })
    const [, url = ''] = /^export DAYTONA_API_URL=(http:\/\/127\.0\.0\.1:\d+\/api)$/m.exec(stdout) ?? []
    await body({ url, stdout, stderr })
  } finally {
    child.kill('SIGINT')
  }
  return await ended
}

const headers = { authorization: 'Bearer emulator', 'content-type': 'application/json' }

test('it says what it is and what to set, serves, and ends on Ctrl-C', async () => {
  const end = await withCommand(['--speed', '50'], async ({ url, stdout, stderr }) => {
    assert.match(stdout, /^export DAYTONA_API_KEY=emulator$/m)
    assert.match(stderr, /emulator of Daytona on this machine alone/)
    assert.match(stderr, /divided by 50/)
    const answer = await fetch(`${url}/sandbox`, { headers })
    assert.equal(await answer.json(), { items: [], nextCursor: null })
  })
  assert.equal(end, [0, null])
})

test('an account is as small as it is told', async () => {
  const flags = ['--limit', 'create=7', '--limit', 'sandbox-lifecycle=9', '--quota', 'cpu=3', '--regions', 'eu']
  await withCommand([...flags, '--speed', '50'], async ({ url }) => {
    const create = (body: unknown) => fetch(`${url}/sandbox`, { method: 'POST', headers, body: JSON.stringify(body) })
    const elsewhere = await create({ target: 'us' })
    assert.equal([elsewhere.status, elsewhere.headers.get('x-ratelimit-limit-sandbox-create')], [403, '7'])
    const large = await create({ cpu: 4 })
    assert.match(await large.text(), 'Total CPU limit exceeded. Maximum allowed: 3.')
    const made = (await (await create({})).json()) as { id: string; target: string }
    assert.is(made.target, 'eu')
    const gone = await fetch(`${url}/sandbox/${made.id}`, { method: 'DELETE', headers })
    assert.is(gone.headers.get('x-ratelimit-limit-sandbox-lifecycle'), '9')
  })
})

test('limits and quotas that are none are refused in words', () => {
  assert.equal(toRateLimits('all=5', toRateLimits('create=3')), { 'sandbox-create': 3, authenticated: 5 })
  for (const text of ['create', 'create=', 'create=0', 'creates=3', 'create=many'])
    assert.throws(() => toRateLimits(text), /NAME=CALLS a minute/)
  assert.equal(toQuota('memory=8,disk=9', toQuota('cpu=64')), { cpu: 64, memory: 8, disk: 9 })
  for (const text of ['', 'cpu', 'cpu=0', 'gpu=1', 'cpu=1,', 'cpu=1.5']) assert.throws(() => toQuota(text), /cpu=64/)
})

test('a fault that is none is bad input', async () => {
  const { exitCode, stderr } = await troupe(['emulator', '--port', '0', '--fault', 'nonsense=1'])
  assert.is(exitCode, 2)
  assert.match(stderr, /write KIND=SHARE/)
})

test.run()

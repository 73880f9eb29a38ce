import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { writeReceipt } from '../../src/receipts/receipt-file.ts'
import { hide, hideInError, hideInValue, hideKnown, noteSecret } from '../../src/redact.ts'
import { type CliEnd, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { type EchoService, startEchoService } from './echo-service.ts'

const test = suite('secrets do not leave')
const SLOW = { deadlineMs: 120_000 }

/** One for each place that a secret comes from, no two alike, so that a leak says where. */
const VARIABLES: Readonly<Record<string, string>> = {
  HUD_API_KEY: 'sk-hud-planted-0a1b2c3d4e5f',
  HUD_SIGNING: 'planted-hud-signing-7d6c5b4a39',
  DAYTONA_API_KEY: 'dtn_planted_1b2c3d4e5f6a7b8c',
  MODEL_API_KEY: 'sk-planted/model+key=="2c3d4e5f',
  SERVICE_TOKEN: 'planted-service-token-3d4e5f6a',
  SIGNING_SECRET: 'planted-signing-secret-4e5f6a7b',
  TROUPE_SERVE_TOKEN: 'planted-serve-token-5f6a7b8c9d',
}
const IN_URLS = ['planted-url-password-6a7b8c9d', 'planted-query-token-7b8c9d0e1f'] as const
const [PASSWORD, QUERY] = IN_URLS
const SECRETS = [...Object.values(VARIABLES), ...IN_URLS]

const ENVIRONMENT = `import { Environment } from 'troupe/environment'
export const env = new Environment('mini', { version: '1.0.0' })
env.template('t', {}, async function* () { yield 'go'; yield 1 })
if (process.env.TELL_ALL === 'load') throw new Error('loading saw ' + JSON.stringify(process.env))
env.onServe(() => { if (process.env.TELL_ALL === 'check') throw new Error('the check saw ' + JSON.stringify(process.env)) })`
/** As careless as an agent can be. */
const AGENT = `export default () => ({ name: 'careless', run: async () => {
  const { ${Object.keys(VARIABLES).join(', ')} } = process.env
  throw new Error('the agent had ' + JSON.stringify({ ${Object.keys(VARIABLES).join(', ')} }), { cause: new Error('because of Bearer ' + MODEL_API_KEY) })
} })`
const FILES = {
  'env.ts': ENVIRONMENT,
  'agent.ts': AGENT,
  'tasks.jsonl': `${JSON.stringify({ env: 'mini', id: 't', args: {} })}\n`,
}

let cwd = ''
let service: EchoService
/** Of the commands, in which something was hidden. */
let hidden = 0

test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-secrets-'))
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(cwd, name), text)
  service = await startEchoService(400)
})
test.after(async () => {
  await service.close()
  await rm(cwd, { recursive: true, force: true })
})

const run = (argv: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<CliEnd> =>
  troupe(argv, { cwd, variables: { ...VARIABLES, ...variables } })

/** All that the commands so far have written, but for what the test itself put there. */
async function written(): Promise<readonly (readonly [string, Buffer])[]> {
  const entries = await readdir(cwd, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile() && !(entry.name in FILES))
    .map(entry => join(entry.parentPath, entry.name))
  return Promise.all(files.map(async file => [file, await readFile(file)] as const))
}

async function assertNothingLeft(end: CliEnd, what: string): Promise<void> {
  const places: readonly (readonly [string, Buffer])[] = [
    ['stdout', Buffer.from(end.stdout)],
    ['stderr', Buffer.from(end.stderr)],
    ...(await written()),
  ]
  for (const [place, bytes] of places)
    for (const secret of SECRETS)
      for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
        assert.not.ok(bytes.includes(form), `${what}: ${form} is in ${place}`)
  if (`${end.stdout}${end.stderr}`.includes('[hidden]')) hidden += 1
}

const services = () => {
  const url = `http://127.0.0.1:${service.port}`
  return { HUD_API_URL: url, HUD_RL_URL: url, HUD_GATEWAY_URL: url, DAYTONA_API_URL: `${url}/api` }
}
const chat = () =>
  JSON.stringify({ endpoint: { inferenceUrl: `http://127.0.0.1:${service.port}/v1`, apiKeyVariable: 'MODEL_API_KEY' } })
const withUser = () => `http://user:${PASSWORD}@127.0.0.1:${service.port}`

const FAILURES: readonly (readonly [
  title: string,
  argv: () => readonly string[],
  more?: () => Readonly<Record<string, string>>,
])[] = [
  [
    'an environment that throws while it is loaded',
    () => ['serve', 'env.ts', '--port', '0'],
    () => ({ TELL_ALL: 'load', TROUPE_SERVE_TOKEN: VARIABLES.TROUPE_SERVE_TOKEN ?? '' }),
  ],
  ['an environment whose check throws', () => ['serve', 'env.ts', '--port', '0'], () => ({ TELL_ALL: 'check' })],
  ['the same with its stack', () => ['serve', 'env.ts', '--port', '0', '--debug'], () => ({ TELL_ALL: 'check' })],
  ['an address with a password', () => ['task', 'list', '--url', `tcp://user:${PASSWORD}@127.0.0.1:1`]],
  ['an address with a token', () => ['eval', 'tasks.jsonl', 'scripted', '--url', `127.0.0.1:1/?token=${QUERY}`]],
  ['an unknown option that holds one', () => ['eval', `--${VARIABLES.SERVICE_TOKEN}`]],
  ['a catalogue that says back the key', () => ['models', 'list'], services],
  ['a catalogue behind a password', () => ['models', 'list', '--url', withUser()], services],
  [
    'a catalogue’s address with a token',
    () => ['models', 'show', 'm', '--url', `${withUser()}/?token=${QUERY}`, '--debug'],
    services,
  ],
  [
    'a training service that says back the key',
    () => ['train', 'tasks.jsonl', '--env', 'env.ts', '--trainer', 'hud', '--model', 'm', '--no-eval', '--no-journal'],
    services,
  ],
  [
    'a provider that says back the key',
    () => ['eval', 'tasks.jsonl', 'scripted', '--runtime', 'daytona', '--snapshot', 's', '--env', '/app/env.ts'],
    services,
  ],
  ['the same with its stack', () => ['reap', '--debug'], services],
  [
    'a provider’s address with password and token',
    () => ['reap'],
    () => ({ DAYTONA_API_URL: `https://user:${PASSWORD}@127.0.0.1/api?token=${QUERY}` }),
  ],
  [
    'a measurement at such a provider',
    () => [
      'warmpool',
      'tasks.jsonl',
      '--width',
      '1',
      '--batches',
      '1',
      '--repetitions',
      '1',
      '--runtime',
      'daytona',
      '--snapshot',
      's',
      '--env',
      '/app/env.ts',
    ],
    services,
  ],
  [
    'a model that says back the key',
    () => ['eval', 'tasks.jsonl', 'a-model', '--env', 'env.ts', '--agent-config', chat()],
    services,
  ],
  ['an agent that tells all it knows', () => ['eval', 'tasks.jsonl', 'agent.ts', '--env', 'env.ts', '--json']],
  [
    'the same in the calling thread',
    () => ['eval', 'tasks.jsonl', 'agent.ts', '--env', 'env.ts', '--threads', '0', '--seed', '7'],
  ],
]

for (const [title, argv, more = () => ({})] of FAILURES)
  test(
    title,
    async () => {
      const end = await run(argv(), more())
      // A run whose agent failed is graded all the same, which is no failure of the command.
      assert.ok(end.exitCode !== 0 || end.stdout.includes('agent-error'), `${end.stdout}${end.stderr}`)
      await assertNothingLeft(end, title)
    },
    SLOW,
  )

test(
  'what the journal kept of all that holds none, however it is read',
  async () => {
    const { stdout } = await run(['runs', '--json', '--outcome', 'agent-error']).then(async end => {
      await assertNothingLeft(end, 'runs')
      return end
    })
    const ids = [...stdout.matchAll(/run-[0-9a-f]{16}/g)].map(([id]) => id)
    assert.ok(ids.length > 0, stdout)
    for (const argv of [
      ['show', ids[0] ?? ''],
      ['show', ids[0] ?? '', '--json'],
      ['export'],
      ['export', '--out', 'runs.jsonl'],
      ['export', '--format', 'parquet', '--out', 'runs.parquet'],
    ])
      await assertNothingLeft(await run(argv), argv.join(' '))
    const journal = (await written()).filter(([file]) => file.includes('journal'))
    assert.ok(
      journal.some(([, bytes]) => bytes.includes('[hidden]')),
      'the journal holds the errors themselves',
    )
  },
  SLOW,
)

test('the services were given their keys, and enough was hidden to know that it would have shown', () => {
  const sent = [...service.keys].join()
  for (const name of ['HUD_API_KEY', 'DAYTONA_API_KEY', 'MODEL_API_KEY'])
    assert.ok(sent.includes(VARIABLES[name] ?? '?'), name)
  assert.ok(hidden >= 8, `${hidden} commands hid something`)
})

test('a receipt holds no secret in what it says about itself, or in a row', () =>
  withFiles({}, async directory => {
    noteSecret(VARIABLES.SIGNING_SECRET)
    const path = join(directory, 'ladder.csv')
    const about = {
      command: `troupe ladder --serve-command 'X=${VARIABLES.SIGNING_SECRET} serve'`,
      provider: `https://u:${PASSWORD}@h/p?api_key=${QUERY}`,
    }
    await writeReceipt(path, {
      kind: 'ladder',
      about,
      columns: ['why'],
      rows: [{ why: `refused Bearer ${VARIABLES.SERVICE_TOKEN}` }],
    })
    const text = await readFile(path, 'utf8')
    for (const secret of SECRETS) assert.not.ok(text.includes(secret), secret)
    assert.is(text.match(/\[hidden\]/g)?.length, 4, text)
  }))

test('known secrets are hidden in every form, results otherwise left alone, and plain words are no secrets', () => {
  noteSecret('a "quoted" one & more')
  noteSecret('short')
  assert.is(
    hide('{"a":"a \\"quoted\\" one & more"} a%20%22quoted%22%20one%20%26%20more short'),
    '{"a":"[hidden]"} [hidden] short',
  )
  const result = 'see http://h/p?token=abcdefgh and Bearer abcdefgh'
  assert.is(hideKnown(result), result)
  assert.is(hide(result), 'see http://h/p?token=[hidden] and Bearer [hidden]')
  for (const plain of [
    'the bearer of this',
    'https://h:8/p?page=2',
    'ssh -p 22 host',
    'a token: 16 characters',
    'user@host.example',
  ])
    assert.is(hide(plain), plain)
  const error = {
    tag: 't',
    message: 'Basic abcdefghij',
    details: { list: ['x?sig_token=abc'], n: 1 },
    cause: { tag: 'c', message: 'ws://u@h/' },
  }
  assert.equal(hideInError(error), {
    tag: 't',
    message: 'Basic [hidden]',
    details: { list: ['x?sig_token=[hidden]'], n: 1 },
    cause: { tag: 'c', message: 'ws://[hidden]@h/' },
  })
  const bytes = Uint8Array.of(1)
  assert.is(hideInValue(bytes), bytes)
})

test('no text makes hiding take long', () => {
  const startedAt = performance.now()
  for (const part of ['a', 'a:', 'x://', '?token', '?', 'Bearer ', '-----BEGIN PRIVATE KEY-----', '@'])
    assert.ok(hide(part.repeat(Math.floor(200_000 / part.length))).length > 0)
  assert.ok(performance.now() - startedAt < 5_000)
})

test.run()

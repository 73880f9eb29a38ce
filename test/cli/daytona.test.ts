/** `--runtime daytona` from the command line, against the emulator in this process. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { type CliEnd, resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli runtime daytona')
const SLOW = { deadlineMs: 120_000 }
const ENVIRONMENT = fileURLToPath(new URL('../../../environments/arith/env.ts', import.meta.url))
const TASKS = 12

let cwd = ''
let emulator: Emulator
const problems: unknown[] = []
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-cli-'))
  const rows = Array.from({ length: TASKS }, (_, a) => ({ env: 'arith', id: 'add', slug: `t${a}`, args: { a, b: 1 } }))
  await writeFile(join(cwd, 'tasks.jsonl'), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  await writeFile(join(cwd, 'Dockerfile.hud'), 'FROM node:22\nCMD ["troupe", "serve", "other.ts"]\n')
  emulator = await startEmulator({
    speed: 100,
    environmentPath: ENVIRONMENT,
    quota: { cpu: 40 },
    onError: error => problems.push(error),
  })
  process.env.DAYTONA_API_URL = emulator.url
  process.env.DAYTONA_API_KEY = emulator.apiKey
})
test.after(async () => {
  delete process.env.DAYTONA_API_URL
  delete process.env.DAYTONA_API_KEY
  await emulator.close()
  await rm(cwd, { recursive: true, force: true })
  assert.equal(problems, [])
})

const CONFIG = ['--agent-config', '{"answer": "1"}']
const run = (line: string): Promise<CliEnd> =>
  troupe(['eval', 'tasks.jsonl', 'scripted', ...CONFIG, ...line.split(' ')], { cwd })
const daytona = (line: string) =>
  run(`--all --max-concurrent 16 --runtime daytona --env environments/arith/env.ts ${line}`)

test(
  'the image of the directory is built, told on stderr, and used; nothing is left',
  async () => {
    const { exitCode, stdout, stderr } = await daytona('--no-journal --json')
    assert.is(exitCode, 0, stderr)
    assert.match(stderr, 'daytona: snapshot troupe-arith, built from Dockerfile.hud')
    assert.match(stderr, 'exec troupe serve environments/arith/env.ts --host 0.0.0.0 --port 8765 --insecure')
    assert.match(stderr, /FROM node:22/)
    const report = resultOf(stdout)
    assert.equal([report.runs.graded, report.leases.cold, report.pool.source], [TASKS, TASKS, 'create'])
    assert.is(emulator.existing(), 0)
  },
  SLOW,
)

test(
  'sandboxes come from where --pool says',
  async () => {
    const [forks, claims] = await Promise.all([
      daytona('--no-journal --json --quiet --pool 4+fork:2 --transport websocket'),
      daytona('--no-journal --json --quiet --pool provider-pool:8 --transport ssh --region eu'),
    ])
    assert.is(forks.exitCode, 0, forks.stderr)
    const forked = resultOf(forks.stdout)
    assert.equal([forked.runs.graded, forked.pool.source], [TASKS, 'fork'])
    assert.ok(forked.leases.fork + forked.leases.hit > 0)
    assert.is(claims.exitCode, 0, claims.stderr)
    const claimed = resultOf(claims.stdout)
    assert.equal([claimed.runs.graded, claimed.pool.source], [TASKS, 'provider-pool'])
    assert.is(emulator.existing(), 0)
  },
  SLOW,
)

test.beforeEach(() => emulator.faults.clear())

test(
  'a source that the runtime does not have, and a pool over the quota, are refused before anything costs',
  async () => {
    const created = emulator.counts.created
    const [local, wide, region] = await Promise.all([
      run(`--env ${ENVIRONMENT} --no-journal --pool 8+fork`),
      daytona('--no-journal --group 20 --pool 41'),
      daytona('--no-journal --region moon'),
    ])
    assert.equal([local.exitCode, wide.exitCode, region.exitCode], [2, 2, 2])
    assert.match(local.stderr, 'pool.source is fork, but the local runtime offers create, auto')
    assert.match(wide.stderr, /cannot hold \d+ sandboxes in region us:\n {2}vCPUs/)
    assert.match(region.stderr, /"moon" .*us, eu/)
    assert.is(emulator.counts.created, created)
  },
  SLOW,
)

test(
  'how sandboxes are had is no part of what a job is: the same command with another pool goes on with it',
  async () => {
    emulator.faults.set({ kind: 'create-error', share: 1 })
    const broken = await daytona('--journal j --seed 1 --retries 0 --quiet --max-concurrent 2')
    assert.is(broken.exitCode, 1, broken.stderr)
    emulator.faults.clear()
    const again = await daytona('--journal j --seed 1 --pool 4+fork --transport ssh --region eu --auto-stop 5')
    assert.match(again.stderr, /going on with job-\w+, which was interrupted/)
  },
  SLOW,
)

test(
  'one task is started and graded by hand',
  async () => {
    const argv = ['task', 'grade', 'add', '--args', '{"a": 1, "b": 2}', '--answer', '3', '--runtime', 'daytona']
    const { exitCode, stdout, stderr } = await troupe(argv, { cwd })
    assert.is(exitCode, 0, stderr)
    assert.is(stdout, '1\n')
    assert.match(stderr, "served by the image's own command")
    assert.is(emulator.existing(), 0)
  },
  SLOW,
)

test.run()

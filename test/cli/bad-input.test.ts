import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli bad input')
let cwd = ''
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-cli-'))
  const row = (slug: string) => JSON.stringify({ env: 'calc', id: 'fix', slug })
  await writeFile(join(cwd, 'tasks.jsonl'), `${row('a')}\n${row('b')}\n`)
  await writeFile(join(cwd, 'broken.jsonl'), `${row('a')}\n{"env": \n`)
  await writeFile(join(cwd, 'twice.jsonl'), `${row('a')}\n${row('a')}\n{"id": 3}\n`)
  await writeFile(join(cwd, 'empty.json'), '[]')
  await writeFile(
    join(cwd, 'agent.ts'),
    'export default () => ({ name: "none", run: async () => ({ answer: "", stop: "done" }) })',
  )
  await writeFile(join(cwd, 'no-agent.ts'), 'export const other = 1')
})
test.after(() => rm(cwd, { recursive: true, force: true }))

/** What is refused, and how: nothing on stdout, exit status 2 and text that ends with the next step. */
const CASES: readonly (readonly [argv: string, message: string])[] = [
  ['evil', "error: unknown command 'evil'"],
  ['eval', "error: missing required argument 'tasks'"],
  ['eval tasks.jsonl agent.ts --grup 2', "unknown option '--grup'\n(Did you mean --group?)"],
  [
    'eval tasks.jsonl agent.ts --group 0',
    "option '--group <n>' argument '0' is invalid. Write a whole number from 1 up.",
  ],
  ['eval tasks.jsonl agent.ts --pool hot', '"hot" is no part of a pool. Write cold, auto or N ready ones;'],
  ['eval tasks.jsonl agent.ts --pool 8+fork:0', 'The number in "fork:0" is none from 1 up.'],
  ['eval tasks.jsonl agent.ts --region eu', '--region and --runtime local do not go together'],
  ['task list --url h:1 --snapshot s', '--snapshot and --runtime url do not go together'],
  [
    'eval tasks.jsonl agent.ts --runtime daytona',
    'there is no Dockerfile.hud in this directory. Name a Dockerfile with',
  ],
  ['task list --runtime daytona --unsafe-no-isolation', '--unsafe-no-isolation and --runtime daytona do not go'],
  ['task list --runtime daytona --env a.ts --serve-command b', '--env and --serve-command do not go together'],
  ['task list --runtime subprocess --env a.ts --serve-command b', '--env and --serve-command do not go together'],
  ['task list --runtime local --serve-command b', '--serve-command and --runtime local do not go together'],
  [
    'task list --runtime subprocess --unsafe-no-isolation --serve-command b',
    '--unsafe-no-isolation and --serve-command do not go together',
  ],
  ['task list --runtime daytona --transport carrier', 'Allowed choices are auto, ssh, websocket.'],
  ['eval tasks.jsonl agent.ts --skill 2', 'Write a number from 0 to 1.'],
  ['eval tasks.jsonl agent.ts --agent-config [1]', 'Write a JSON object'],
  ['eval tasks.jsonl agent.ts --deadline agnet=3', 'PHASE=SECONDS with one of: rollout, provisioning'],
  ['eval tasks.jsonl agent.ts --runtime moon', 'Allowed choices are local, subprocess, url, docker, daytona.'],
  ['eval nowhere.json agent.ts', 'error: there are no tasks at nowhere.json. Name a .ts'],
  ['eval broken.jsonl agent.ts', 'error: broken.jsonl:2: this is not JSON'],
  ['eval twice.jsonl agent.ts', 'twice.jsonl:2: the slug "a" is already taken by twice.jsonl:1'],
  ['eval twice.jsonl agent.ts', 'twice.jsonl:3: "env" must be a string'],
  ['eval empty.json agent.ts', 'error: the taskset "empty" has no task.'],
  ['eval tasks.jsonl agent.ts --task-ids 0,7-9,zzz', 'no task matches "7-9"; no task matches "zzz".'],
  ['eval tasks.jsonl agent.ts --all --task-ids a', '--all and --task-ids do not go together'],
  ['eval tasks.jsonl ./clever', 'error: there is no agent "./clever"'],
  ['eval tasks.jsonl clever', 'error: the model "clever" needs a key'],
  ['eval tasks.jsonl no-agent.ts --env env.ts', 'exports no agent factory as "default": it has other.'],
  ['eval tasks.jsonl agent.ts --all --group 8 --chunk 4', '--chunk 4 is smaller than one group of 8'],
  ['eval tasks.jsonl agent.ts', 'there is no env.ts beside the tasks. Name one with --env FILE'],
  ['eval tasks.jsonl agent.ts --runtime url', '--url is missing'],
  ['eval tasks.jsonl agent.ts --url nowhere', '"nowhere" is not an address'],
  ['eval tasks.jsonl agent.ts --runtime local --url h:1', '--url and --runtime local do not go together'],
  ['serve nowhere.ts', 'nowhere.ts'],
  ['task', 'Usage: troupe task'],
  ['task start', "error: missing required argument 'task'"],
  ['task grade --answer 3 --env env.ts', '<task> is missing: without --url there is no started task to grade'],
  ['task grade add --env env.ts', '--answer is missing'],
  ['runs', 'error: there is no journal at .troupe/journal. `troupe eval` writes one'],
  ['show run-1 --journal nowhere', 'there is no journal at nowhere'],
  ['export --format csv', 'Allowed choices are jsonl, parquet.'],
]

test(
  'each mistake is named with its next step, before anything is started',
  async () => {
    const waiting = [...CASES]
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await refuse(...next)
    }
    await Promise.all([work(), work(), work()])
  },
  { deadlineMs: 120_000 },
)

test('--debug adds the data and the place of an error', async () => {
  const { stderr } = await troupe(['eval', 'broken.jsonl', 'agent.ts', '--debug'], { cwd })
  assert.match(stderr, '"tag": "malformed-json"')
  assert.match(stderr, '"address": "broken.jsonl:2"')
  assert.match(stderr, /at .*read-rows\.js/)
})

async function refuse(line: string, message: string): Promise<void> {
  const { exitCode, stdout, stderr } = await troupe(line.split(' '), { cwd })
  assert.ok(stderr.includes(message), `troupe ${line} said: ${stderr}`)
  assert.is(exitCode, 2, `troupe ${line}: ${stderr}`)
  assert.is(stdout, '', `troupe ${line}`)
}

test.run()

/**
 * What an agent can reach through the shell that a served environment gives it. Each attempt to get out is a row of a table (reading, writing,
 * processes, network, privilege, file tools) or a test of its own where it takes more than a command (bombs.test.ts has those that use things up).
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import type { Attempt } from './attempt.ts'
import { callTool, fileTools, swapping, toldOrChanged } from './file-tools.ts'
import { makeNeighbour, type Neighbour } from './neighbour.ts'
import { network } from './network.ts'
import {
  findServer,
  findWorkspace,
  KEYS,
  MARK,
  openSurroundings,
  type Places,
  processesWith,
  type Surroundings,
} from './places.ts'
import { privilege } from './privilege.ts'
import { processes } from './processes.ts'
import { reading, writing } from './reading.ts'
import { CALC, type Served, type ServedSession, serve } from './served.ts'
import { tally } from './tally.ts'

const test = suite('escape attempts')
const count = tally('escape attempts')
const TABLES: Readonly<Record<string, readonly Attempt[]>> = { reading, writing, processes, network, privilege }

let surroundings: Surroundings
let served: Served
let attacker: ServedSession
let neighbour: Neighbour
let places: Places

test.before(async () => {
  surroundings = await openSurroundings()
  Object.assign(process.env, KEYS)
  served = await serve(CALC, { transport: 'tcp', variables: KEYS })
  attacker = await served.open()
  neighbour = await makeNeighbour(await served.open())
  const { address } = attacker
  places = {
    ...surroundings,
    server: findServer(),
    controlPort: address.kind === 'tcp' ? address.port : 0,
    theirs: findWorkspace('secret.txt', MARK),
  }
  // Without these the attempts below would look for what is not there.
  assert.match(readFileSync(`/proc/${places.server}/environ`, 'utf8'), MARK)
  assert.ok(places.controlPort > 0)
})
test.after(async () => {
  for (const name of Object.keys(KEYS)) delete process.env[name]
  await neighbour?.close()
  await attacker?.close()
  await served?.close()
  await surroundings?.close()
})

/** The server and the neighbour go on, and nothing of theirs has changed. */
function damage(): readonly string[] {
  return [
    ...(existsSync(`/proc/${places.server}`) ? [] : ['the server is gone']),
    ...(neighbour.isRunning() ? [] : ['a neighbour’s command has ended']),
    ...toldOrChanged([], places),
  ]
}

for (const [table, attempts] of Object.entries(TABLES)) {
  for (const { what, command, got } of attempts) {
    test(`${table}: ${what}`, async () => {
      const { stdout, stderr } = await attacker.shell.exec(command(places), { timeoutMs: 20_000 })
      const printed = stdout + stderr
      count(`${table}: ${what}`, [...(got(printed, places) ? [printed] : []), ...damage()])
    })
  }
}

for (const { what, prepare, calls } of fileTools) {
  test(`file tools: ${what}`, async () => {
    await attacker.shell.exec(prepare(places), { timeoutMs: 10_000 })
    const shown: string[] = []
    for (const call of calls(places)) shown.push(await callTool(attacker.shell, call))
    count(`file tools: ${what}`, [...toldOrChanged(shown, places), ...damage()])
    await attacker.shell.exec('rm -rf /workspace/*')
  })
}

test('file tools: a directory that becomes a link while it is walked', async () => {
  const controller = new AbortController()
  const swaps = attacker.shell.exec(swapping(places), { signal: controller.signal }).catch(() => undefined)
  await untilThere(attacker, 'swap/secret.txt')
  const shown: string[] = []
  for (let round = 0; round < 400; round += 1) {
    shown.push(await callTool(attacker.shell, ['read', 'swap/secret.txt']))
    if (round % 4 === 0) await callTool(attacker.shell, ['write', 'swap/written'])
  }
  controller.abort()
  await swaps
  assert.ok(shown.some(text => text.startsWith('error')) && shown.includes('mine\n'), 'it was swapped meanwhile')
  count('file tools: a directory that becomes a link while it is walked', [
    ...toldOrChanged(shown, places),
    ...damage(),
  ])
  await attacker.shell.exec('rm -rf /workspace/*')
})

test('processes: go on after the command has ended, however they were started', async () => {
  const ways = [
    'sleep 900001 & disown',
    '(setsid nohup sleep 900002 >/dev/null 2>&1 &)',
    'trap "" HUP TERM; (trap "" HUP TERM; exec sleep 900003) >/dev/null 2>&1 </dev/null &',
    `/usr/bin/python3 -c 'import os\nfor _ in range(2):\n    if os.fork(): os._exit(0)\n    os.setsid()\nfor fd in range(3): os.close(fd)\nos.execlp("sleep", "sleep", "900004")'`,
    'coproc sleep 900005; (exec -a kworker sleep 900006 &) ; (exec -a 900007 sleep 900007 &)',
  ]
  for (const way of ways) await attacker.shell.exec(way, { timeoutMs: 10_000 })
  count('processes: go on after the command has ended', [...processesWith('90000'), ...damage()])
})

test('processes: go on after the session has ended', async () => {
  const session = await served.open()
  const running = session.shell.exec('(setsid sleep 910001 &) ; touch ready; exec sleep 910002').catch(() => undefined)
  await untilThere(session, 'ready')
  assert.is(processesWith('91000').length > 0, true)
  await session.close()
  await running
  count('processes: go on after the session has ended', [...processesWith('91000'), ...damage()])
})

test('processes: go on after the connection was cut without a word', async () => {
  const session = await served.open()
  const running = session.shell.exec('(setsid sleep 920001 &) ; touch ready; exec sleep 920002').catch(() => undefined)
  await untilThere(session, 'ready')
  session.control.abort()
  await session.shell.close()
  await running
  await until(() => processesWith('92000').length === 0)
  count('processes: go on after the connection was cut', [...processesWith('92000'), ...damage()])
})

test('the attempts are real: where nothing isolates, what only a sandbox prevents succeeds', async () => {
  const bare = await serve(CALC, { transport: 'tcp', isolation: 'none' })
  const session = await bare.open()
  try {
    const attempts = Object.values(TABLES).flat()
    const failed: string[] = []
    for (const { what, command, got } of attempts.filter(each => each.bare)) {
      const { stdout, stderr } = await session.shell.exec(command(places), { timeoutMs: 20_000 })
      if (!got(stdout + stderr, places)) failed.push(`${what}: ${stdout}${stderr}`)
      rmSync(places.written, { force: true })
    }
    assert.equal(failed, [])
  } finally {
    await session.close()
    await bare.close()
  }
})

test('none of them succeeded', () => {
  count.tell()
  assert.equal(count.succeeded(), [])
})

async function untilThere({ shell }: ServedSession, path: string): Promise<void> {
  await until(async () => {
    try {
      await shell.readFile(path)
      return true
    } catch {
      return false // not yet
    }
  })
}

/** Asks again until it holds; the test's own deadline is the limit. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 10))
}

test.run()

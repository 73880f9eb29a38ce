import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { hasTag } from '../../src/errors.ts'
import { entriesBelow } from '../support/living-tree.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { openThroughGateway, sayHello, startTask } from './support/gateway-client.ts'

const test = suite('emulator leftovers')

/** Of this process, as the kernel lists them. */
function children(): readonly number[] {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Runs `body` with a temporary directory of its own, and tells what it has left there. */
async function leftBy(body: () => Promise<void>): Promise<readonly string[]> {
  const temporary = process.env.TMPDIR
  return await withFiles({}, async directory => {
    await chmod(directory, 0o711) // commands run as users of their own, who pass through it
    process.env.TMPDIR = directory
    try {
      assert.is(tmpdir(), directory)
      await body()
      return readdirSync(directory)
    } finally {
      if (temporary === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = temporary
    }
  })
}

async function post(emulator: Emulator, path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await fetch(new URL(path, emulator.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json().catch(() => ({}))) as Record<string, string>
}

/** A sandbox with a session of its own and a connection to the server that was started in it. */
async function openServing(emulator: Emulator) {
  const { id } = await post(emulator, '/api/sandbox', {})
  while ((await post(emulator, `/toolbox/${id}/process/session`, { sessionId: 's' })).statusCode !== undefined);
  const exec = (command: string) => post(emulator, `/toolbox/${id}/process/session/s/exec`, { command, runAsync: true })
  await exec('troupe serve environments/calc/env.ts')
  const { token = '' } = await post(emulator, `/api/sandbox/${id}/ssh-access`, {})
  const gateway = await openThroughGateway(emulator.sshPort, token)
  while ((await sayHello(gateway, 8765)) === undefined);
  return { id, exec, gateway }
}

test('nothing is left of servers, commands and files, even of what is in the middle of something', async () => {
  const earlier = children()
  let pids: readonly number[] = []
  const left = await leftBy(async () => {
    const emulator = await startEmulator({ speed: 200, servers: 'each' })
    try {
      for (const { exec } of [await openServing(emulator), await openServing(emulator)])
        await exec('touch mark; while :; do read -t 1 < /dev/tcp/127.0.0.1/1; done 2> /dev/null')
      pids = children().filter(pid => !earlier.includes(pid))
      assert.is(pids.length, 6, 'two servers of their own, each with its guard, and two commands run')
      const creating = post(emulator, '/api/sandbox', {}).catch(() => 'cut off in the middle')
      await emulator.close()
      await creating
    } finally {
      await emulator.close()
    }
  })
  assert.equal(left, [])
  assert.equal(
    pids.filter(pid => existsSync(`/proc/${pid}`)),
    [],
  )
})

test('a task in progress ends with its sandbox, also in a server that others go on using', async () => {
  const left = await leftBy(async () => {
    const emulator = await startEmulator({ speed: 200 })
    try {
      const [one, other] = [await openServing(emulator), await openServing(emulator)]
      for (const { gateway } of [one, other])
        assert.match(await startTask(gateway, 8765, 'fix_calc', { variant: 1 }), /"prompt"/)
      assert.is(sessionDirectories().length, 2)
      await fetch(`${emulator.url}/sandbox/${one.id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${emulator.apiKey}` },
      })
      const until = performance.now() + 10_000
      while (sessionDirectories().length > 1 && performance.now() < until) await post(emulator, '/emulator/nothing', {})
      assert.is(sessionDirectories().length, 1)
    } finally {
      await emulator.close()
    }
  })
  assert.equal(left, [])
})

/** The workspaces of all servers' sessions. */
function sessionDirectories(): readonly string[] {
  const servers = readdirSync(tmpdir()).filter(name => name.startsWith('troupe-emulator-'))
  return servers.flatMap(name =>
    entriesBelow(join(tmpdir(), name, 'workspaces'))
      .filter(entry => entry.isDirectory() && /^session-\d+$/.test(entry.name))
      .map(entry => entry.name),
  )
}

test('a port that is taken is told, with nothing left behind', async () => {
  const left = await leftBy(async () => {
    const first = await startEmulator()
    try {
      const port = Number(new URL(first.url).port)
      const second = await startEmulator({ port }).then(
        () => undefined,
        (error: unknown) => error,
      )
      assert.ok(hasTag(second, 'emulator-port-taken'))
    } finally {
      await first.close()
    }
  })
  assert.equal(left, [])
})

test.run()

/** A server that a test starts is gone with the test, however that ends. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { startNats } from './nats.ts'

const test = suite('a nats-server for tests')

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    // ESRCH: it is gone.
    return false
  }
}

/** Bounded by the test's own deadline. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10)
}

/** Where the server's files are, as the kernel knows its command line. */
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { startNats } from '${new URL('./nats.js', import.meta.url).href}'
const nats = await startNats()
const [server] = nats.servers
const path = readFileSync('/proc/' + server.pid + '/cmdline', 'utf8').split('\\0').at(-2)
console.log(JSON.stringify({ pid: server.pid, root: dirname(dirname(path)) }))`

test('the server and its files are gone after kill -9 of the process that started it', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line = ''] = await child.stdout.setEncoding('utf8').take(1).toArray()
  const { pid, root } = JSON.parse(line)
  assert.ok(isAlive(pid) && existsSync(root) && root.includes('troupe-nats-'), line)
  child.kill('SIGKILL')
  await until(() => !isAlive(pid) && !existsSync(root))
})

test('what a server stored is there when it is started again, and it is at the same address', async () => {
  await using nats = await startNats()
  const [server] = nats.servers
  assert.ok(server?.pid !== undefined)
  const before = server.pid
  await server.kill()
  assert.is(server.pid, undefined)
  assert.not(isAlive(before))
  await server.start()
  assert.is.not(server.pid, before)
  const connection = await connect({ servers: nats.urls })
  assert.is(connection.info?.server_name, 's1')
  await connection.close()
})

test('a configuration that it cannot read is told in its own words', async () => {
  const error = await startNats({ config: 'no_such_field: 1' }).then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  assert.match(error?.message ?? '', /unknown field "no_such_field"/)
})

test.run()

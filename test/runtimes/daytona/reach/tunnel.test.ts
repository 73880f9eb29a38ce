import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { makeControlClient } from '../../../../src/wire/client.ts'
import { suite } from '../../../support/suite.ts'
import { failure } from '../../../wire/support/failure.ts'
import { noteCalls, openScene, override, rollOut, SERVE, startRelay, tunnelDirectories } from './scene.ts'

const test = suite('daytona tunnel')

let scene: Awaited<ReturnType<typeof openScene>>
test.before(async () => {
  scene = await openScene()
})
test.after(async () => {
  await scene.end()
  assert.equal(tunnelDirectories(), [])
})

/** A sandbox that is reached over SSH through a relay. */
async function openRelayed() {
  const relay = await startRelay(scene.emulator.sshPort)
  const asked: string[] = []
  const { sandboxes } = scene.account
  const relayed = override(noteCalls(sandboxes, asked), {
    createSshAccess: async (...args) => {
      asked.push('createSshAccess')
      const answer = await sandboxes.createSshAccess(...args)
      const sshCommand = `ssh -p ${relay.port} ${answer.data.token}@127.0.0.1`
      return { ...answer, data: { ...answer.data, sshCommand } }
    },
  })
  const reach = scene.reach('ssh', { sandboxes: relayed })
  const request = await scene.create(SERVE)
  const reached = await reach.open(request)
  const end = async () => {
    await reach.close()
    await relay.idle()
    await relay.close()
  }
  return { relay, asked, reach, reached, request, end }
}

test('a tunnel that is cut loses its sessions, and the next connection goes through a new one with the same token', async () => {
  const { relay, asked, reached, end } = await openRelayed()
  const client = makeControlClient()
  try {
    const session = await client.connect(reached.address, { clock: systemClock, deadlineMs: 5_000 })
    await session.startTask('fix_calc', { variant: 1 })
    const listing = failure(session.listTasks().then(() => session.grade('x')))
    relay.cut()
    assert.is((await listing).tag, 'session-lost')
    assert.is(await rollOut(reached), 0)
    assert.is(relay.seen(), 2)
    assert.equal(asked, ['createSshAccess'])
  } finally {
    await client.close()
    await end()
  }
})

test('a token that is not let in any more is replaced, once for all who need it', async () => {
  const { relay, asked, reached, request, end } = await openRelayed()
  try {
    await scene.account.sandboxes.revokeSshAccess(request.id)
    relay.cut()
    assert.equal(await Promise.all([rollOut(reached), rollOut(reached), rollOut(reached)]), [0, 0, 0])
    assert.equal(asked, ['createSshAccess', 'createSshAccess'])
  } finally {
    await end()
  }
})

test('what was said before the end of one direction still arrives, and so does the answer', async () => {
  const { reached, end } = await openRelayed()
  try {
    assert.is(reached.address.kind, 'unix')
    const path = reached.address.kind === 'unix' ? reached.address.path : ''
    const socket = connect({ path, allowHalfOpen: true })
    socket.end('{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n')
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    assert.match(Buffer.concat(chunks).toString(), /"session_id"/)
  } finally {
    await end()
  }
})

test('closing cuts connections here and to the gateway, and the socket is gone', async () => {
  const { relay, reached, end } = await openRelayed()
  const client = makeControlClient()
  try {
    const session = await client.connect(reached.address, { clock: systemClock, deadlineMs: 5_000 })
    assert.is(tunnelDirectories().length, 1)
    await reached.close()
    await relay.idle()
    assert.is((await failure(session.listTasks())).tag, 'session-lost')
    assert.not.ok(reached.address.kind === 'unix' && existsSync(reached.address.path))
  } finally {
    await client.close()
    await end()
  }
})

test.run()

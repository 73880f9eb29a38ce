import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { WebSocket, WebSocketServer } from 'ws'
import { makeAccess } from '../../src/emulator/access.ts'
import { portOf } from '../../src/emulator/gateway.ts'
import { makePreview } from '../../src/emulator/preview.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { makeScene } from './support/scene.ts'

const test = suite('emulator preview')

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return portOf(server)
}

/** A sandbox that serves HTTP and WebSocket on port 3000, behind the proxy. */
async function openPreview() {
  const inside = createServer((request, response) => {
    request.setEncoding('utf8')
    let body = ''
    request.on('data', (text: string) => {
      body += text
    })
    request.on('end', () => response.end(`${request.method} ${request.url} ${body}`))
  })
  const sockets = new WebSocketServer({ server: inside })
  sockets.on('connection', (socket, { url }) => {
    socket.on('message', data => socket.send(`${url} ${data}`))
  })
  const insidePort = await listen(inside)
  const { sandboxes } = makeScene()
  const record = sandboxes.insert({ snapshot: 'any', target: 'us' })
  sandboxes.startedNow(record)
  const served = {
    pid: 0,
    exited: new Promise(() => {}),
    connect: () => connect(insidePort, '127.0.0.1'),
    release: async () => {},
  }
  const request = { environmentPath: '', env: undefined, port: 3000 }
  record.ports.set(3000, { request, opened: Promise.resolve(served), served, sessionIds: new Set() })
  const clock = new VirtualClock()
  const access = makeAccess(clock)
  const preview = makePreview(sandboxes, access)
  const outside = createServer((incoming, response) => preview.handle(incoming, response))
  outside.on('upgrade', (incoming, socket, head) => preview.upgrade(incoming, socket, head))
  const origin = `http://127.0.0.1:${await listen(outside)}/preview`
  return {
    record,
    sandboxes,
    access,
    clock,
    origin,
    async end() {
      for (const server of [outside, inside]) {
        server.closeAllConnections()
        await new Promise(resolve => server.close(resolve))
      }
      sockets.close()
    },
  }
}

test('a request reaches the port with its method, path, query and body, and without the token', async () => {
  const { record, origin, end } = await openPreview()
  try {
    const url = `${origin}/${record.id}/3000/a/b?x=1&DAYTONA_SANDBOX_AUTH_KEY=${record.previewToken}`
    const answer = await fetch(url, { method: 'POST', body: 'hello' })
    assert.is(await answer.text(), 'POST /a/b?x=1 hello')
    assert.is((await fetch(`${origin}/${record.id}/3000/`)).status, 401)
    assert.is((await fetch(`${origin}/nobody/3000/`)).status, 404)
  } finally {
    await end()
  }
})

test('a signed address needs no other token, for its port alone and for its time', async () => {
  const { record, origin, access, clock, end } = await openPreview()
  try {
    const token = access.sign(record.id, 3000, 10)
    assert.is(await (await fetch(`${origin}/${token}/3000`)).text(), 'GET / ')
    assert.is((await fetch(`${origin}/${token}/22`)).status, 401)
    await clock.advance(10_000)
    assert.is((await fetch(`${origin}/${token}/3000`)).status, 404)
  } finally {
    await end()
  }
})

test('a WebSocket goes through, and is cut when the sandbox ends', async () => {
  const { record, origin, sandboxes, end } = await openPreview()
  try {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/${record.id}/3000/feed`, {
      headers: { 'x-daytona-preview-token': record.previewToken },
    })
    await once(socket, 'open')
    const told = once(socket, 'message')
    socket.send('hi')
    assert.is(String((await told)[0]), '/feed hi')
    const closed = once(socket, 'close')
    sandboxes.stop(record)
    await closed
    assert.is(record.connections.size, 0)
  } finally {
    await end()
  }
})

test.run()

/** The provider's stream of events, over its real wire. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import * as assert from 'uvu/assert'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../../../src/clock.ts'
import { portOf } from '../../../../src/emulator/gateway.ts'
import { startEmulator } from '../../../../src/emulator/index.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'
import { type EventFeed, makeEventFeed, type SandboxNews } from '../../../../src/runtimes/daytona/events/event-feed.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('daytona event stream')

/** News as they come, each once. */
function follow(apiUrl: string, apiKey: string) {
  const news: SandboxNews[] = []
  let reconnected = 0
  let wake = () => {}
  const feed: EventFeed = makeEventFeed({
    apiUrl,
    apiKey,
    clock: systemClock,
    onNews(each) {
      news.push(each)
      wake()
    },
    onReconnected() {
      reconnected += 1
      wake()
    },
  })
  feed.open()
  return {
    feed,
    news,
    reconnections: () => reconnected,
    async until(holds: () => boolean) {
      while (!holds())
        await new Promise<void>(resolve => {
          wake = resolve
        })
    },
  }
}

test('it tells what becomes of every sandbox, is trusted once it has, and goes on after the provider was away', async () => {
  const options = { speed: 100, isolation: 'none' } as const
  let emulator = await startEmulator(options)
  const { url, apiKey } = emulator
  const account = await openAccount({ apiUrl: url, apiKey, clock: systemClock })
  const { feed, news, until, reconnections } = follow(url, apiKey)
  const create = () => callDaytona('create', () => account.sandboxes.createSandbox({}))
  try {
    assert.not.ok(feed.trusted)
    while (news.length === 0) await create()
    const { id } = await create()
    await until(() => news.some(each => each.id === id && each.state === 'started'))
    assert.ok(feed.trusted)
    await emulator.close()
    emulator = await startEmulator({ ...options, port: Number(new URL(url).port) })
    await until(() => reconnections() === 1)
    const again = await create()
    await until(() => news.some(each => each.id === again.id && each.state === 'started'))
  } finally {
    feed.close()
    await account.release()
    await emulator.close()
  }
})

test('a provider that says goodbye to it, or does not let it in, is asked again, and not all the time', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  const tokens: string[] = []
  sockets.on('connection', socket => {
    socket.send('0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":100000}')
    socket.on('message', data => {
      const text = String(data)
      if (!text.startsWith('40')) return
      tokens.push(text.slice(2))
      if (tokens.length === 1) socket.send('44{"message":"Unauthorized"}')
      else if (tokens.length === 2) socket.send('40{"sid":"a"}', () => socket.send('41'))
      else socket.send('40{"sid":"b"}', () => socket.send('42["sandbox.created",{"id":"x","state":"creating"}]'))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { feed, news, until } = follow(`http://127.0.0.1:${portOf(server)}/api`, 'the-key')
  const began = performance.now()
  try {
    await until(() => news.length === 1)
    assert.equal(tokens, Array(3).fill('{"token":"the-key"}'))
    assert.equal(news, [{ id: 'x', state: 'creating' }])
    assert.ok(performance.now() - began > 400)
  } finally {
    feed.close()
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    await new Promise(resolve => server.close(resolve))
  }
})

test.run()

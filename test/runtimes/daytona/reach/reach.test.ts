import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import { noteCalls, openScene, override, rollOut, SERVE, startRefuser, tunnelDirectories } from './scene.ts'

const test = suite('daytona reach')

let scene: Awaited<ReturnType<typeof openScene>>
test.before(async () => {
  scene = await openScene()
})
test.after(async () => {
  await scene.end()
  assert.equal(tunnelDirectories(), [])
})

for (const transport of ['ssh', 'websocket'] as const)
  test(`over ${transport} an environment is started, greeted, worked in and graded`, async () => {
    const reach = scene.reach(transport)
    try {
      const reached = await reach.open(await scene.create(SERVE))
      assert.is(reached.transport, transport)
      assert.is(reached.sessionId, undefined)
      assert.is(await rollOut(reached), 0)
      assert.match(await reached.output(), /HUD_SERVE_PORT=8765/)
      await reached.close()
    } finally {
      await reach.close()
    }
  })

test('a prewarmed one is handed over with its session, which waits to be resumed', async () => {
  const reach = scene.reach('ssh')
  try {
    const reached = await reach.open(await scene.create(SERVE, { prewarm: true }))
    assert.match(reached.sessionId ?? 'none', /^sess-/)
    assert.is(await rollOut(reached), 0)
  } finally {
    await reach.close()
  }
})

test('with auto the first to answer wins, and those after it are not raced for', async () => {
  const asked: string[] = []
  const { sandboxes } = scene.account
  const reach = scene.reach('auto', { sandboxes: noteCalls(sandboxes, asked) })
  try {
    const first = await reach.open(await scene.create(SERVE))
    assert.equal(asked.slice().sort(), ['createSshAccess', 'getPortPreviewUrl'])
    const loser = first.transport === 'ssh' ? 'getPortPreviewUrl' : 'createSshAccess'
    asked.length = 0
    const second = await reach.open(await scene.create(SERVE))
    assert.is(second.transport, first.transport)
    assert.not.ok(asked.includes(loser), asked.join())
    await Promise.all([first.close(), second.close()])
  } finally {
    await reach.close()
  }
})

test('a server that takes no WebSocket is reached over SSH, and so are those after it', async () => {
  const noWebSocket = await startRefuser()
  const asked: string[] = []
  const { sandboxes } = scene.account
  const elsewhere = override(noteCalls(sandboxes, asked), {
    getPortPreviewUrl: async (...args) => {
      const answer = await sandboxes.getPortPreviewUrl(...args)
      return { ...answer, data: { ...answer.data, url: noWebSocket.url } }
    },
  })
  const reach = scene.reach('auto', { sandboxes: elsewhere })
  try {
    const first = await reach.open(await scene.create(SERVE))
    assert.is(first.transport, 'ssh')
    assert.is(await rollOut(first), 0)
    const tries = noWebSocket.seen()
    const second = await reach.open(await scene.create(SERVE))
    assert.is(second.transport, 'ssh')
    assert.is(noWebSocket.seen(), tries)
  } finally {
    await reach.close()
    await noWebSocket.close()
  }
})

test('the loser of a race leaves no token behind', async () => {
  const tokens: string[] = []
  const { sandboxes } = scene.account
  const watched = override(sandboxes, {
    createSshAccess: async (...args) => {
      const answer = await sandboxes.createSshAccess(...args)
      tokens.push(answer.data.token)
      // Never the first to answer, in this test.
      return { ...answer, data: { ...answer.data, sshCommand: 'ssh -p 1 x@127.0.0.1' } }
    },
  })
  const reach = scene.reach('auto', { sandboxes: watched })
  const reached = await reach.open(await scene.create(SERVE))
  assert.is(reached.transport, 'websocket')
  await reach.close()
  assert.is(tokens.length, 1)
  const { data } = await sandboxes.validateSshAccess(tokens[0] ?? '')
  assert.is(data.valid, false)
})

test('a fork is reached without a command of its own', async () => {
  const reach = scene.reach('auto')
  const request = await scene.create(SERVE)
  const parent = await reach.open(request)
  const child = await reach.open(await scene.fork(request.id))
  assert.is(await rollOut(child), 0)
  assert.is(await rollOut(parent), 0)
  assert.is(await child.output(), '')
  await reach.close()
})

for (const transport of ['ssh', 'auto'] as const)
  test(`64 at once over ${transport} are all reached, each with a session of its own`, async () => {
    const reach = scene.reach(transport)
    const all = await Promise.all(
      Array.from({ length: 64 }, async () => reach.open(await scene.create(SERVE, { prewarm: true }))),
    )
    assert.is(new Set(all.map(({ sessionId }) => sessionId)).size, 64)
    await Promise.all(all.slice(0, 32).map(each => each.close({ sandboxEnds: true })))
    await reach.close()
  })

test.run()

import { getEventListeners } from 'node:events'
import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import { failure } from '../../../wire/support/failure.ts'
import { openScene, override, rollOut, SERVE, tunnelDirectories } from './scene.ts'

const test = suite('daytona reach failures')

let scene: Awaited<ReturnType<typeof openScene>>
test.before(async () => {
  scene = await openScene()
})
test.after(async () => {
  await scene.end()
  assert.equal(tunnelDirectories(), [])
})

for (const [what, command, output] of [
  ['does not find its file', 'troupe serve missing.ts 2>&1', /not found/],
  ['fails', "sh -c 'echo on its way; echo boom >&2; exit 3'", /on its way\n.*boom/s],
] as const)
  test(`a server that ${what} is told at once, with what it wrote`, async () => {
    const reach = scene.reach('auto')
    const since = performance.now()
    const error = await failure(reach.open(await scene.create(command)))
    assert.is(error.tag, 'environment-not-serving')
    assert.match(error.message, output)
    assert.ok(error.message.includes(command))
    assert.ok(performance.now() - since < 5_000, 'long before the deadline')
    await reach.close()
  })

test('where its log cannot be followed, a server that fails is found by looking', async () => {
  const reach = scene.reach('ssh', {
    processes: sandbox => {
      const processes = scene.account.processes(sandbox)
      return override(processes, {
        getSessionCommandLogs: (session, command, follow, options) =>
          follow === true
            ? Promise.reject(new Error('no WebSocket here'))
            : processes.getSessionCommandLogs(session, command, follow, options),
      })
    },
  })
  const error = await failure(reach.open(await scene.create("sh -c 'echo boom; exit 3'")))
  assert.is(error.tag, 'environment-not-serving')
  assert.equal(error.data.details, { command: "sh -c 'echo boom; exit 3'", exitCode: 3, output: 'boom' })
  const reached = await reach.open(await scene.create(SERVE))
  assert.is(await rollOut(reached), 0)
  await reach.close()
})

test('where nothing serves, the deadline tells what was tried and what was written', async () => {
  const reach = scene.reach('auto')
  const command = 'echo warming up; read -t 60 x < /dev/zero; sleep 60'
  const error = await failure(reach.open(await scene.create(command, { deadlineMs: 700 })))
  assert.is(error.tag, 'environment-not-reachable')
  for (const part of ['websocket and ssh', 'port 8765', command, 'warming up', '--host 0.0.0.0'])
    assert.ok(error.message.includes(part), `${part} in: ${error.message}`)
  assert.is(error.data.transient, true)
  await reach.close()
})

test('a server on another port is not taken for an image without one', async () => {
  const reach = scene.reach('ssh')
  const command = 'troupe serve environments/calc/env.ts --port 9000'
  const error = await failure(reach.open(await scene.create(command, { deadlineMs: 700 })))
  assert.is(error.tag, 'environment-not-reachable')
  assert.match(error.message, /says that it runs, so have it listen on port 8765/)
  await reach.close()
})

test('variables reach the server with its command, whatever is in them', async () => {
  const reach = scene.reach('ssh')
  const command = 'echo "$ONE|$TWO" && exit 4'
  const variables = { ONE: `it's "$HOME"`, TWO: 'a b' }
  const error = await failure(reach.open(await scene.create(undefined, { serve: { command, variables } })))
  assert.is(error.data.details?.output, `it's "$HOME"|a b`)
  await reach.close()
})

test('a call that the provider refuses is what the opening fails with', async () => {
  const reach = scene.reach('auto')
  const request = await scene.create(SERVE)
  await scene.account.sandboxes.deleteSandbox((await request.sandbox).id)
  assert.match((await failure(reach.open(request))).tag, /^daytona-/)
  await reach.close()
})

test('given up midway, it rejects with the reason at once, and nothing of it is left', async () => {
  for (const afterMs of [0, 5, 20, 60]) {
    const reach = scene.reach('auto')
    const controller = new AbortController()
    const opening = reach.open(await scene.create('sleep 60', { signal: controller.signal }))
    const timer = setTimeout(() => controller.abort(new Error('not wanted')), afterMs)
    const thrown = await opening.catch((error: unknown) => error)
    clearTimeout(timer)
    assert.is(thrown, controller.signal.reason)
    assert.is(getEventListeners(controller.signal, 'abort').length, 0)
    await reach.close()
  }
})

test('closing ends what is under way, and opens nothing after it', async () => {
  const reach = scene.reach('auto')
  const opening = failure(reach.open(await scene.create('sleep 60')))
  await reach.close()
  assert.is((await opening).tag, 'reach-closed')
  assert.is((await failure(reach.open(await scene.create(SERVE)))).tag, 'reach-closed')
  await reach.close()
})

test.run()

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import type { ErrorData } from '../../src/errors.ts'
import { SubprocessRuntime, type SubprocessRuntimeOptions } from '../../src/runtimes/subprocess.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'
import { failure } from '../wire/support/failure.ts'
import { hostProgram, openHostScene } from './fixtures/host-scene.ts'

const test = suite('subprocess runtime')

async function openSubprocess(options: SubprocessRuntimeOptions = {}) {
  const scene = await openHostScene()
  const runtime = new SubprocessRuntime([process.execPath, hostProgram, scene.environmentPath, '--port', '0'], options)
  return { runtime, scene, leftovers: () => scene.leftovers(), end: () => scene.end() }
}

runtimeContract(test, () => openSubprocess())

test('each sandbox is a process of its own, which dispose ends', async () => {
  const { runtime, scene, end } = await openSubprocess()
  const one = await runtime.provision(toRequest('one'))
  await runtime.provision(toRequest('two'))
  assert.is(scene.leftovers().length, 2)
  await one.dispose({ sessionEnded: false })
  assert.is(scene.leftovers().length, 1)
  await runtime.close()
  assert.equal(scene.leftovers(), [])
  await end()
})

test('a process that dies is reported lost; one that is disposed of is not', async () => {
  const { runtime, scene, end } = await openSubprocess()
  const losses: ErrorData[] = []
  let died: (error: ErrorData) => void = () => {}
  const lost = new Promise<ErrorData>(resolve => {
    died = resolve
  })
  const first = await runtime.provision(toRequest('one', { onLost: died }))
  const second = await runtime.provision(toRequest('two', { onLost: error => losses.push(error) }))
  process.kill(scene.pids()[0] ?? 0, 'SIGKILL')
  assert.match((await lost).message, /ended with exit code 137/)
  await Promise.all([first.dispose({ sessionEnded: false }), second.dispose({ sessionEnded: false })])
  await runtime.close()
  assert.equal(losses, [])
  await end()
})

test('a create that is called off half-way leaves no process', async () => {
  const { runtime, scene, end } = await openSubprocess({ stopGraceMs: 500 })
  scene.behave({ silent: true })
  const controller = new AbortController()
  const making = runtime.provision(toRequest('one', { signal: controller.signal }))
  controller.abort()
  assert.is((await failure(making)).tag, 'provision-cancelled')
  await runtime.close()
  assert.equal(scene.leftovers(), [])
  await end()
})

test('a program that is not there is named', async () => {
  const runtime = new SubprocessRuntime(['no-such-program-of-ours', 'serve'])
  assert.is((await failure(runtime.preflight())).tag, 'serve-not-found')
  const error = await failure(runtime.provision(toRequest('one')))
  assert.is(error.tag, 'serve-failed')
  assert.match(error.message, /^no-such-program-of-ours serve ended with exit code 127/)
  await runtime.close()
})

test('an engine that is killed outright takes its processes with it', async () => {
  const scene = await openHostScene()
  const program = `
    import { SubprocessRuntime } from ${JSON.stringify(new URL('../../src/runtimes/subprocess.js', import.meta.url).href)}
    const runtime = new SubprocessRuntime(${JSON.stringify([process.execPath, hostProgram, scene.environmentPath, '--port', '0'])})
    const { signal } = new AbortController()
    await runtime.provision({ id: 'one', task: undefined, labels: {}, prewarm: false, signal })
    process.kill(process.pid, 'SIGKILL')`
  const engine = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(engine, 'close')
  const [host] = scene.pids()
  assert.type(host, 'number')
  while (scene.leftovers().length > 0) await new Promise(resolve => setImmediate(resolve))
  await scene.end()
})

test.run()

import * as assert from 'uvu/assert'
import { Environment } from '../../src/environment/environment.ts'
import { InProcessRuntime } from '../../src/testing/index.ts'
import { runtimeContract, toRequest } from '../contracts/runtime.ts'
import { suite } from '../support/suite.ts'

const test = suite('in-process runtime')

function makeEnvironment() {
  const open = new Set<string>()
  const environment = new Environment('echo')
  environment.onSessionStart(({ sessionId }) => void open.add(sessionId))
  environment.onTeardown(({ sessionId }, reason) => {
    if (reason === 'closed') open.delete(sessionId)
  })
  environment.template('echo', {}, async function* () {
    yield Number(String(yield 'say 1') === '1')
  })
  return { environment, open }
}

runtimeContract(test, async () => {
  const { environment, open } = makeEnvironment()
  return {
    runtime: new InProcessRuntime(environment),
    leftovers: () => [...open],
    end: async () => {},
  }
})

test("the environment's own checks come first, and again once what was missing is there", async () => {
  const { environment } = makeEnvironment()
  let isMissing = true
  environment.onServe(() => {
    if (isMissing) throw new Error('no compiler here')
  })
  const runtime = new InProcessRuntime(environment)
  try {
    assert.match(String(await runtime.preflight().catch((error: unknown) => error)), /no compiler here/)
    isMissing = false
    await runtime.preflight()
    const sandbox = await runtime.provision(toRequest('one'))
    await sandbox.dispose({ sessionEnded: true })
  } finally {
    await runtime.close()
  }
})

test('tasks are checked by the schemas of the environment', async () => {
  const { environment } = makeEnvironment()
  const runtime = new InProcessRuntime(environment)
  const task = { env: 'echo', id: 'ech', args: {}, slug: 'ech' }
  assert.match((await runtime.checkTasks([task])).join(), /ech: .*"ech"/)
  assert.match((await runtime.checkTasks([{ ...task, env: 'other' }])).join(), /belongs to the environment "other"/)
  assert.equal(await runtime.checkTasks([{ ...task, id: 'echo' }]), [])
  await runtime.close()
})

test.run()

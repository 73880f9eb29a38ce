/** Where sandboxes come from: forks, the provider's own pools, and how long each took. */
import * as assert from 'uvu/assert'
import type { SandboxStages } from '../../../../src/runtimes/daytona/options.ts'
import { toRequest } from '../../../contracts/runtime.ts'
import { assertRejects } from '../../../support/assert-rejects.ts'
import { suite } from '../../../support/suite.ts'
import { look, withScene } from '../daytona-scene.ts'

const test = suite('daytona origins')

test('a fork serves what its parent serves, and has labels and an end of its own', () =>
  withScene(async scene => {
    let forkable = 0
    const onForkable = () => {
      forkable += 1
    }
    const parent = await scene.runtime.provision(toRequest('parent', { onForkable, prewarm: true }))
    assert.is(forkable, 1)
    const expiry = new Date(Date.now() + 30 * 60_000).toISOString()
    const child = await scene.runtime.provision(
      toRequest('child', { parent: parent.id, prewarm: true, labels: { job: 'other', expiry } }),
    )
    assert.is(child.origin, 'fork')
    assert.type(child.sessionId, 'string')
    assert.is.not(child.sessionId, parent.sessionId)
    const dto = await look(scene, 'troupe-child')
    assert.equal(dto.labels, { 'troupe-job': 'other', 'troupe-expiry': expiry, 'troupe-sandbox': 'child' })
    assert.is(dto.autoDeleteInterval, 0)
    assert.ok(Date.parse(dto.autoDestroyAt ?? '') < Date.now() + 31 * 60_000)
  }))

test('a second fork at once is refused as transient, and so is one of a parent that is gone', () =>
  withScene(async scene => {
    const parent = await scene.runtime.provision(toRequest('parent'))
    const [one, two] = await Promise.allSettled(
      ['one', 'two'].map(id => scene.runtime.provision(toRequest(id, { parent: parent.id }))),
    )
    const failed = [one, two].flatMap(each => (each?.status === 'rejected' ? [each.reason.data] : []))
    assert.equal(
      failed.map(({ tag, transient }) => [tag, transient]),
      [['fork-parent-busy', true]],
    )
    await parent.dispose({ sessionEnded: true })
    const late = scene.runtime.provision(toRequest('late', { parent: parent.id }))
    assert.is((await assertRejects(late, 'fork-parent-gone')).data.transient, true)
  }))

test('a sandbox from the provider’s own pool is told as claimed, and any other as cold', () =>
  withScene(async scene => {
    const { providerPool, runtime } = { providerPool: scene.runtime.providerPool, runtime: scene.runtime }
    await providerPool.hold(2)
    while ((await providerPool.ready()) < 2) await new Promise(resolve => setTimeout(resolve, 20))
    const claimed = await runtime.provision(toRequest('one'))
    assert.is(claimed.origin, 'claim')
    const other = scene.makeRuntime({ resources: { cpu: 2 } })
    assert.is((await other.provision(toRequest('two'))).origin, 'cold')
    await assertRejects(other.providerPool.hold(1), 'claim-impossible')
    await other.close()
  }))

test('how long each sandbox took is told, stage by stage', async () => {
  const stages: SandboxStages[] = []
  await withScene(
    async scene => {
      await scene.runtime.provision(toRequest('one'))
      const [first] = stages
      assert.is(stages.length, 1)
      assert.is(first?.id, 'one')
      assert.is(first?.transport, 'websocket')
      const times = [first?.createdMs ?? 0, first?.startedMs ?? 0, first?.reachedMs ?? 0]
      assert.ok((times[0] ?? 0) > 0)
      assert.equal(
        times,
        [...times].sort((one, other) => one - other),
      )
    },
    { options: { onStages: each => stages.push(each), transport: 'websocket' } },
  )
})

test.run()

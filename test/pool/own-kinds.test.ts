import * as assert from 'uvu/assert'
import { toLeaseId } from '../../src/ids.ts'
import type { Task } from '../../src/taskset/task.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { withPool } from '../actors/pool-scene.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import { task } from './simulation.ts'

const test = suite('pool: sandboxes of a kind of their own')

const own: Task = { ...task, slug: 'own', runtime_config: { image: 'x' } }

/** Asks for sandboxes of one kind each. */
class KindRuntime extends FakeRuntime {
  kindOf(wanted: Task): string | undefined {
    return wanted.runtime_config?.image
  }
}

test('what was made ahead never serves a task that needs another, which gets one made for it, and is told so', () =>
  withPool(
    { pool: { strategy: 'prewarm', size: 2 }, maxSandboxes: 8 },
    async scene => {
      scene.pool.tell({ type: 'demand', remaining: 6 })
      await settle()
      assert.is((await scene.stats()).ready, 2)
      const replies = await Promise.all([scene.leaseFor(own), scene.lease(), scene.leaseFor(own), scene.lease()])
      assert.equal(
        replies.map(reply => (reply.type === 'leased' ? reply.kind : reply.error.tag)),
        ['cold', 'hit', 'cold', 'hit'],
      )
      const made = new Map(scene.runtime.requests.map(request => [request.id, request.task?.slug]))
      assert.equal(
        replies.map(reply => (reply.type === 'leased' ? made.get(reply.sandboxId) : undefined)),
        ['own', undefined, 'own', undefined],
      )
    },
    new KindRuntime(),
  ))

test('one that was made for a task that is not waited for any more is called off, and serves nobody else', () =>
  withPool(
    { maxSandboxes: 4 },
    async scene => {
      scene.runtime.immediate = false
      const withdrawn = scene.leaseFor(own)
      await settle()
      const waiting = scene.lease()
      await settle()
      assert.is(scene.runtime.requests.length, 2)
      scene.pool.tell({ type: 'release', leaseId: toLeaseId('lease-1'), sessionEnded: false })
      assert.is((await withdrawn).type, 'refused')
      assert.is(scene.runtime.requests[0]?.signal.aborted, true)
      scene.runtime.finish()
      const reply = await waiting
      assert.is(reply.type === 'leased' && reply.sandboxId, scene.runtime.requests[1]?.id)
      assert.is((await scene.stats()).leased, 1)
    },
    new KindRuntime(),
  ))

test('where all that may exist does, what is ready for anybody makes way', () =>
  withPool(
    { pool: { strategy: 'prewarm', size: 3 }, maxSandboxes: 3 },
    async scene => {
      scene.pool.tell({ type: 'demand', remaining: 10 })
      await settle()
      assert.is((await scene.stats()).ready, 3)
      const replies = await Promise.all([scene.leaseFor(own), scene.leaseFor(own)])
      assert.equal(
        replies.map(({ type }) => type),
        ['leased', 'leased'],
      )
      const { leased, ready, deleting } = await scene.stats()
      assert.is(leased, 2)
      assert.ok(leased + ready + deleting <= 3)
    },
    new KindRuntime(),
  ))

test('a row’s image that there is not fails its own requests alone, and trips no breaker', () =>
  withPool(
    { maxSandboxes: 8, breaker: { failures: 2, cooldownMs: 10_000 } },
    async scene => {
      const { runtime } = scene
      const make = runtime.provision.bind(runtime)
      runtime.provision = async request => {
        if (request.task?.runtime_config !== undefined) throw new Error('no such image')
        return make(request)
      }
      const refused = await Promise.all(Array.from({ length: 5 }, () => scene.leaseFor(own)))
      assert.ok(refused.every(({ type }) => type === 'refused'))
      assert.is((await scene.lease()).type, 'leased')
    },
    new KindRuntime(),
  ))

test('leases beside those that were announced take nothing from what is announced', () =>
  withPool({ pool: { strategy: 'prewarm', size: 4 }, maxSandboxes: 12 }, async scene => {
    scene.pool.tell({ type: 'demand', remaining: 4 })
    await settle()
    await Promise.all([scene.leaseFor(task, { isExtra: true }), scene.leaseFor(task, { isExtra: true })])
    await settle()
    assert.is((await scene.stats()).ready, 4)
  }))

test.run()

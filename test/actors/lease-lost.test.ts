import * as assert from 'uvu/assert'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import type { ErrorData } from '../../src/errors.ts'
import { randomIds } from '../../src/ids.ts'
import { makeScene, plans, type Scene } from '../support/engine-scene.ts'
import type { FakePeer } from '../support/fake-session.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import { FakeRuntime } from './fake-runtime.ts'
import { withPool } from './pool-scene.ts'

const test = suite('leases whose sandbox dies')

const why: ErrorData = { tag: 'sandbox-lost', message: 'its host was killed' }
/** Longer than the pause before a second attempt, and far shorter than any deadline. */
const SOON_MS = 1_000

/** The first who comes stays for ever. */
function holdFirst(): () => Promise<void> {
  let came = 0
  return () => (++came === 1 ? new Promise(() => {}) : Promise.resolve())
}

/** One group of one member on a real pool; its agent and its peer wait where `hold` says. */
function makeLossScene(
  hold: { readonly agent?: () => Promise<void>; readonly peer?: FakePeer },
  options: { readonly retries?: number } = {},
): { readonly scene: Scene; readonly runtime: FakeRuntime } {
  const runtime = new FakeRuntime()
  const scene = makeScene({
    ...options,
    peer: hold.peer ?? {},
    agent: {
      name: 'held',
      async run() {
        await hold.agent?.()
        return { answer: 'x', stop: 'done' }
      },
    },
    pool: system =>
      system.spawn(
        sandboxPool({
          runtime,
          pool: { strategy: 'cold', size: 0 },
          maxSandboxes: 4,
          labels: {},
          ids: randomIds,
          report() {},
        }),
      ),
  })
  scene.addShard('a')
  scene.run(plans(1, 1))
  return { scene, runtime }
}

test('the pool tells whoever holds a sandbox that it has died, once, and nobody else', () =>
  withPool({}, async ({ heard, lease, pool, runtime }) => {
    const [mine, other] = [await lease(0), await lease(1)]
    runtime.requests[0]?.onLost?.(why)
    await settle()
    assert.equal(heard, [{ owner: 0, message: { type: 'lease-lost', leaseId: mine.leaseId, error: why } }])
    pool.tell({ type: 'release', leaseId: other.leaseId, sessionEnded: true })
    runtime.requests[1]?.onLost?.(why)
    await settle()
    assert.is(heard.length, 1, 'what was given back is lost to nobody')
  }))

for (const [phase, makeHold] of [
  ['connecting', (wait: () => Promise<void>) => ({ peer: { connect: wait } })],
  ['starting', (wait: () => Promise<void>) => ({ peer: { start: wait } })],
  ['agent', (wait: () => Promise<void>) => ({ agent: wait })],
  ['grading', (wait: () => Promise<void>) => ({ peer: { grade: () => wait().then(() => ({ score: 1 })) } })],
] as const)
  test(`a rollout in the phase "${phase}" goes on in a fresh sandbox as soon as its own has died`, async () => {
    const { scene, runtime } = makeLossScene(makeHold(holdFirst()))
    await settle(20)
    assert.equal([runtime.requests.length, scene.groups.length], [1, 0])
    runtime.requests[0]?.onLost?.(why)
    await scene.clock.advance(SOON_MS)
    await settle(20)
    const [run] = scene.groups[0]?.runs ?? []
    assert.equal([run?.attempt, run?.reward, runtime.requests.length], [2, 1, 2])
    assert.is(runtime.existing.size, 0, 'both were given back')
    await scene.system.stop()
  })

test('without another attempt its run says what its sandbox died of', async () => {
  const { scene, runtime } = makeLossScene({ peer: { connect: holdFirst() } }, { retries: 0 })
  await settle(20)
  runtime.requests[0]?.onLost?.(why)
  await scene.clock.advance(SOON_MS)
  const [run] = scene.groups[0]?.runs ?? []
  assert.equal(
    [run?.outcome, run?.reward, run?.stopReason, run?.failedPhase, run?.error?.tag],
    ['infrastructure-error', null, 'sandbox-lost', 'connecting', 'lease-lost'],
  )
  assert.match(run?.error?.message ?? '', /its host was killed/)
  assert.equal(run?.error?.cause, why)
  await scene.system.stop()
})

test.run()

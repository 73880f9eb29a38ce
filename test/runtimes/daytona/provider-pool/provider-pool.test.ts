import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../../../src/errors.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { listPools } from '../../../../src/runtimes/daytona/account/list-pools.ts'
import { listSandboxes } from '../../../../src/runtimes/daytona/account/list-sandboxes.ts'
import { ANCHOR_LABEL } from '../../../../src/runtimes/daytona/provider-pool/anchor-labels.ts'
import { CHANNELS } from '../../../../src/telemetry/channels.ts'
import { assertRejects } from '../../../support/assert-rejects.ts'
import { suite } from '../../../support/suite.ts'
import { until, withAccount } from './fixtures/account-scene.ts'
import { startOther } from './fixtures/other-process.ts'
import { poolOf, SNAPSHOT } from './fixtures/pool-of.ts'

const test = suite('daytona provider pool')

const anchorsIn = async (account: Account) =>
  (await listSandboxes(account)).filter(({ labels }) => labels[ANCHOR_LABEL.purpose] !== undefined)

test('a held pool fills with real sandboxes where an anchor has landed, and drop leaves nothing', () =>
  withAccount({ regions: ['eu', 'us'] }, async ({ account, emulator }) => {
    const pool = poolOf(account)
    await pool.hold(5)
    const [held] = await listPools(account)
    assert.equal([held?.snapshot, held?.target, held?.pool], [SNAPSHOT, 'eu', 5])
    const [anchor] = await anchorsIn(account)
    assert.equal([anchor?.labels[ANCHOR_LABEL.pool], anchor?.autoStopInterval], [held?.id, 15])
    await until(async () => (await pool.ready()) === 5)
    assert.is(emulator.existing(), 6, 'five members and the anchor')
    await pool.drop()
    assert.is(emulator.existing(), 0)
    assert.equal(await listPools(account), [])
    await pool.drop()
    assert.is(await pool.ready(), 0)
    await assertRejects(pool.hold(5), 'pool-dropped')
  }))

test('what the provider counts before it exists is not believed', () =>
  // Slow enough that a busy machine looks at it in between.
  withAccount({ speed: 4 }, async ({ account, emulator }) => {
    const pool = poolOf(account)
    await pool.hold(8)
    let ahead = 0
    await until(async () => {
      const [[held], ready, existing] = [await listPools(account), await pool.ready(), emulator.existing() - 1]
      assert.ok(ready <= existing)
      if (held?.currentSize === 8 && ready < 8) ahead += 1
      return ready === 8
    })
    await pool.drop()
    assert.ok(ahead > 0, 'currentSize said full before it was')
  }))

test('a claimed member is not counted, and survives the drop', () =>
  withAccount({}, async ({ account, emulator }) => {
    const pool = poolOf(account)
    await pool.hold(3)
    await until(async () => (await pool.ready()) === 3)
    const { data } = await account.sandboxes.createSandbox({ snapshot: SNAPSHOT, labels: { mine: 'yes' } })
    assert.ok((await pool.ready()) < 3)
    await pool.drop()
    assert.is(emulator.existing(), 1)
    assert.is((await account.sandboxes.getSandbox(data.id)).data.labels.mine, 'yes')
  }))

test('another size is the same pool', () =>
  withAccount({}, async ({ account }) => {
    const pool = poolOf(account)
    await Promise.all([pool.hold(2), pool.hold(6), pool.hold(4)])
    assert.equal(
      (await listPools(account)).map(held => held.pool),
      [4],
    )
    await pool.drop()
  }))

test('a runtime whose creates could never be claims is refused before anything costs', () =>
  withAccount({}, async ({ account, emulator }) => {
    const pool = poolOf(account, { obstacle: () => 'resources of its own (2 vCPUs)' })
    await assertRejects(pool.hold(2), 'claim-impossible', /resources of its own \(2 vCPUs\)/)
    assert.is(emulator.counts.created, 0)
    assert.equal(await listPools(account), [])
    await pool.drop()
  }))

test('a second engine of the same process is refused, and leaves the first alone', () =>
  withAccount({}, async ({ account, emulator }) => {
    const [first, second] = [poolOf(account), poolOf(account)]
    await first.hold(2)
    await assertRejects(second.hold(9), 'pool-held', /another engine of this process/)
    assert.is((await listPools(account))[0]?.pool, 2)
    await until(async () => (await first.ready()) === 2)
    await second.drop()
    assert.is(await first.ready(), 2)
    await first.drop()
    await second.drop()
    assert.is(emulator.existing(), 0)
  }))

test('of two that begin at the same time one gets the pool', () =>
  withAccount({}, async ({ account, emulator }) => {
    const both = [poolOf(account), poolOf(account)]
    const settled = await Promise.allSettled(both.map(pool => pool.hold(3)))
    assert.equal(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.is((await listPools(account)).length, 1)
    assert.is((await anchorsIn(account)).length, 1)
    await Promise.all(both.map(pool => pool.drop()))
    assert.is(emulator.existing(), 0)
  }))

test('a pool of a process that lives is not taken from it; once it is killed it is adopted', () =>
  withAccount({}, async ({ account, emulator }) => {
    const other = await startOther(emulator, 'pool', 4)
    const [theirs] = await listPools(account)
    const pool = poolOf(account)
    try {
      const { message } = await assertRejects(pool.hold(2), 'pool-held')
      assert.ok(message.includes(other.owner), message)
      assert.is((await listPools(account))[0]?.pool, 4)
    } finally {
      await other.kill()
    }
    await pool.hold(2)
    assert.equal(
      (await listPools(account)).map(({ id, pool: size }) => [id, size]),
      [[theirs?.id, 2]],
    )
    assert.is((await anchorsIn(account)).length, 1, 'the anchor of the dead owner is gone')
    await until(async () => (await pool.ready()) === 2)
    await pool.drop()
    assert.is(emulator.existing(), 0)
  }))

test('a pool that nothing says is ours is left as it is', () =>
  withAccount({}, async ({ account, emulator }) => {
    const { data } = await account.warmPools.createWarmPool({ snapshot: SNAPSHOT, pool: 2, target: 'us' })
    const pool = poolOf(account)
    await assertRejects(pool.hold(7), 'pool-held', /made it by hand/)
    await pool.drop()
    assert.equal(
      (await listPools(account)).map(({ id, pool: size }) => [id, size]),
      [[data.id, 2]],
    )
    await until(async () => emulator.existing() === 2)
  }))

test('a pool that appears between the look and the create is looked at again', () =>
  withAccount({}, async ({ account, emulator }) => {
    let creates = 0
    const racing = stub(account, {
      async createWarmPool(wanted) {
        creates += 1
        if (creates === 1) await account.warmPools.createWarmPool({ ...wanted, pool: 1 })
        return await account.warmPools.createWarmPool(wanted)
      },
    })
    const pool = poolOf(racing)
    // The other one has no anchor, so the 409 does not make it ours to adopt.
    await assertRejects(pool.hold(3), 'pool-held')
    assert.is(creates, 1)
    await pool.drop()
    assert.is((await listPools(account)).length, 1)
    await until(async () => emulator.existing() === 1)
  }))

test('a create of a pool whose answer is lost is found, and let go of in the end', () =>
  withAccount({}, async ({ account, emulator }) => {
    const lossy = stub(account, {
      async createWarmPool(wanted) {
        await account.warmPools.createWarmPool(wanted)
        throw lost()
      },
    })
    const pool = poolOf(lossy)
    await pool.hold(3)
    await until(async () => (await pool.ready()) === 3)
    await pool.drop()
    assert.equal(await listPools(account), [])
    assert.is(emulator.existing(), 0)
  }))

test('an anchor whose create is not answered is found by its name', () =>
  withAccount({}, async ({ account, emulator }) => {
    emulator.faults.set({ kind: 'reset-create', next: 1 })
    const pool = poolOf(account)
    await pool.hold(1)
    assert.is((await anchorsIn(account)).length, 1)
    await pool.drop()
    assert.is(emulator.existing(), 0)
  }))

test('an organisation without pools is told so, and nothing stays', () =>
  withAccount({}, async ({ account, emulator }) => {
    const refusing = stub(account, {
      createWarmPool: () => Promise.reject(refusal('daytona-forbidden', 'Warm pools are not enabled')),
    })
    await assertRejects(poolOf(refusing).hold(3), 'pool-not-enabled', /must be enabled for the organisation/)
    assert.is(emulator.existing(), 0)
  }))

test('drop while a hold is under way leaves nothing, wherever it is', () =>
  withAccount({}, async ({ account, emulator }) => {
    for (const afterCalls of [0, 1, 2, 3, 4]) {
      let calls = 0
      let reached = () => {}
      const there = new Promise<void>(resolve => {
        reached = resolve
      })
      const counted = onEachCall(account, () => {
        if (calls++ === afterCalls) reached()
      })
      const pool = poolOf(counted)
      const holding = pool.hold(3).catch((error: unknown) => error)
      await Promise.race([there, holding])
      await pool.drop()
      await holding
      assert.is(emulator.existing(), 0, `dropped at call ${afterCalls}`)
      assert.equal(await listPools(account), [])
    }
  }))

test('a drop does not wait for a snapshot that is still being built', () =>
  withAccount({}, async ({ account, emulator }) => {
    const pool = poolOf(account, { snapshot: () => new Promise(() => {}) })
    const holding = pool.hold(3)
    const refused = assertRejects(holding, 'pool-dropped')
    await pool.drop()
    await refused
    assert.is(emulator.counts.created, 0)
  }))

test('a pool that the provider cannot fill is told once, with its reason', () =>
  withAccount({ quota: { cpu: 3, memory: 100, disk: 100 } }, async ({ account }) => {
    const heard: unknown[] = []
    const listen = (data: unknown) => heard.push(data)
    subscribe(CHANNELS.sandbox, listen)
    try {
      const pool = poolOf(account)
      await pool.hold(5)
      await until(async () => (await listPools(account))[0]?.errorReason != null)
      assert.is(await pool.ready(), 2)
      await pool.ready()
      const told = heard.filter(data => (data as { tag: string }).tag === 'pool-failing')
      assert.is(told.length, 1)
      assert.match((told[0] as { message: string }).message, /Total CPU limit exceeded/)
      await pool.drop()
    } finally {
      unsubscribe(CHANNELS.sandbox, listen)
    }
  }))

test('what will not go is told, and asked to go again by the next drop', () =>
  withAccount({}, async ({ account, emulator }) => {
    let broken = true
    const stubborn: Account = {
      ...account,
      warmPools: Object.assign(Object.create(account.warmPools), {
        deleteWarmPool: (id: string) =>
          broken ? Promise.reject(refusal('daytona-bad-request', 'no')) : account.warmPools.deleteWarmPool(id),
      }),
    }
    const pool = poolOf(stubborn)
    await pool.hold(1)
    await assertRejects(pool.drop(), 'daytona-bad-request')
    assert.is((await anchorsIn(account)).length, 1, 'the anchor stays as long as the pool')
    broken = false
    await pool.drop()
    assert.is(emulator.existing(), 0)
  }))

const refusal = (tag: string, message: string) => new TroupeError({ tag, message })
const lost = () => refusal('daytona-unreachable', 'connection reset')

function stub(account: Account, parts: Partial<Account['warmPools']>): Account {
  return { ...account, warmPools: Object.assign(Object.create(account.warmPools), parts) }
}

/** Calls back at the start of each call that makes or lists something. */
function onEachCall(account: Account, onCall: () => void): Account {
  const watch = <Api extends object>(api: Api): Api =>
    new Proxy(api, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          onCall()
          return Reflect.apply(member, target, given)
        }
      },
    })
  return { ...account, sandboxes: watch(account.sandboxes), warmPools: watch(account.warmPools) }
}

test.run()

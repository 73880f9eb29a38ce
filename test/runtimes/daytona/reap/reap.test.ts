import * as assert from 'uvu/assert'
import { TroupeError } from '../../../../src/errors.ts'
import { toOwnerWord } from '../../../../src/owner.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { listPools } from '../../../../src/runtimes/daytona/account/list-pools.ts'
import { listSandboxes } from '../../../../src/runtimes/daytona/account/list-sandboxes.ts'
import { ANCHOR_LABEL, POOL_ANCHOR } from '../../../../src/runtimes/daytona/provider-pool/anchor-labels.ts'
import { findLeftovers, type Leftover, removeLeftovers } from '../../../../src/runtimes/daytona/reap/index.ts'
import { suite } from '../../../support/suite.ts'
import { until, withAccount } from '../provider-pool/fixtures/account-scene.ts'
import { type OtherProcess, startOther } from '../provider-pool/fixtures/other-process.ts'
import { poolOf, SNAPSHOT } from '../provider-pool/fixtures/pool-of.ts'

const test = suite('daytona reap')

const HOUR_MS = 3_600_000
/** An owner on a machine that cannot be seen from here. */
const FAR = 'build-7~0123456789ab.4026531836~4711~99'

const kindsOf = (leftovers: readonly Leftover[]) => leftovers.map(({ kind }) => kind).sort()

async function create(account: Account, labels: Record<string, string>, name?: string): Promise<string> {
  const { data } = await account.sandboxes.createSandbox({ snapshot: SNAPSHOT, labels, ...(name && { name }) })
  return data.id
}

/** The account as it is seen so much later. */
function later(account: Account, byMs: number): Account {
  const { clock } = account
  return {
    ...account,
    clock: { now: () => clock.now(), after: clock.after, wallTime: () => clock.wallTime() + byMs },
  }
}

test('what a killed engine left is found and removed; what a living one has, and what is not ours, is not touched', () =>
  withAccount({}, async ({ account, emulator }) => {
    const [dead, alive] = await Promise.all([
      startOther(emulator, 'sandboxes', 3),
      startOther(emulator, 'sandboxes', 2),
    ])
    try {
      await dead.kill()
      const foreign = await create(account, { team: 'others' })
      const mine = await create(account, { 'troupe-owner': toOwnerWord() })
      const found = await findLeftovers(account)
      assert.equal(
        found.map(({ kind, owner, job, standing, cpu }) => [kind, owner, job, standing, cpu]),
        Array.from({ length: 3 }, () => ['sandbox', dead.owner, 'job-2', 'dead', 1]),
      )
      assert.is(emulator.existing(), 7, 'finding deletes nothing')
      const told: string[] = []
      assert.equal(await removeLeftovers(account, found, ({ id }, problem) => told.push(problem?.message ?? id)), [])
      assert.equal(told.sort(), found.map(({ id }) => id).sort())
      const left = (await listSandboxes(account)).map(({ id }) => id)
      assert.is(left.length, 4)
      assert.ok(left.includes(foreign) && left.includes(mine))
      assert.equal(await findLeftovers(account), [])
    } finally {
      await alive.kill()
    }
    assert.is((await findLeftovers(account)).length, 2)
  }))

test('a pool whose holder was killed goes with its members and its anchor; a held one and one made by hand stay', () =>
  withAccount({ regions: ['us', 'eu', 'asia'] }, async ({ account, emulator }) => {
    const dead = await startOther(emulator, 'pool', 4)
    await until(async () => emulator.existing() === 5)
    assert.equal(await findLeftovers(account), [], 'its holder lives')
    await dead.kill()
    const held = poolOf({ ...account, region: 'eu' })
    await held.hold(2)
    await account.warmPools.createWarmPool({ snapshot: SNAPSHOT, pool: 1, target: 'asia' })
    await until(async () => emulator.existing() === 5 + 3 + 1)
    const found = await findLeftovers(account, { ownerless: true })
    assert.equal(kindsOf(found), ['pool', 'pool-anchor', ...Array.from({ length: 4 }, () => 'pool-member')])
    assert.equal(new Set(found.map(({ region }) => region)), new Set(['us']))
    assert.equal(await removeLeftovers(account, found), [])
    assert.equal((await listPools(account)).map(({ target }) => target).sort(), ['asia', 'eu'])
    assert.is(emulator.existing(), 4)
    await held.drop()
    assert.is(emulator.existing(), 1)
  }))

test('an engine that was killed while it let go of its pool leaves members that are found by the anchor', () =>
  withAccount({}, async ({ account, emulator }) => {
    const dead = await startOther(emulator, 'pool', 2)
    await until(async () => emulator.existing() === 3)
    await dead.kill()
    const [pool] = await listPools(account)
    // As if the delete of the pool had been the last thing, and the provider left its members.
    const orphaned: Account = {
      ...account,
      warmPools: without(account, { listWarmPools: async () => noPools(account) }),
    }
    const found = await findLeftovers(orphaned)
    assert.equal(kindsOf(found), ['pool-anchor', 'pool-member', 'pool-member'])
    assert.ok(found.every(leftover => leftover.pool === pool?.id))
    await account.warmPools.deleteWarmPool(pool?.id ?? '')
    assert.equal(await removeLeftovers(account, found), [])
    assert.is(emulator.existing(), 0)
  }))

test('an owner elsewhere is alive until its expiry has passed, or until it is named', () =>
  withAccount({}, async ({ account }) => {
    const expiry = new Date(account.clock.wallTime() + HOUR_MS).toISOString()
    const id = await create(account, { 'troupe-owner': FAR, 'troupe-expiry': expiry })
    assert.equal(await findLeftovers(account), [])
    assert.is((await findLeftovers(later(account, 2 * HOUR_MS)))[0]?.standing, 'expired')
    for (const named of [{ owners: [FAR] }, { hosts: ['build-7'] }]) {
      const [found] = await findLeftovers(account, named)
      assert.equal([found?.id, found?.standing], [id, 'named'])
    }
    assert.equal(await findLeftovers(account, { hosts: ['build-8'] }), [])
    const ofJob = await create(account, { 'troupe-owner': FAR, 'troupe-job': 'job-2', 'troupe-expiry': expiry })
    const found = await findLeftovers(account, { owners: [FAR], job: 'job-2' })
    assert.equal(
      found.map(({ id }) => id),
      [ofJob],
    )
  }))

test('an owner that is seen to live is spared even if it is named', () =>
  withAccount({}, async ({ account }) => {
    await create(account, { 'troupe-owner': toOwnerWord(), 'troupe-expiry': new Date(0).toISOString() })
    assert.equal(await findLeftovers(account, { owners: [toOwnerWord()] }), [])
    assert.equal(await findLeftovers(account), [])
  }))

test('an anchor elsewhere that the provider has stopped has no owner any more', () =>
  withAccount({}, async ({ account, emulator }) => {
    const expiry = new Date(account.clock.wallTime() + HOUR_MS).toISOString()
    const id = await create(account, {
      'troupe-owner': FAR,
      'troupe-expiry': expiry,
      [ANCHOR_LABEL.purpose]: POOL_ANCHOR,
    })
    await account.warmPools.createWarmPool({ snapshot: SNAPSHOT, pool: 1, target: 'us' })
    assert.equal(await findLeftovers(account), [])
    await until(async () => (await account.sandboxes.getSandbox(id)).data.state === 'started')
    await account.sandboxes.stopSandbox(id)
    await until(async () => (await account.sandboxes.getSandbox(id)).data.state === 'stopped')
    const found = await findLeftovers(account)
    assert.ok(found.some(({ kind }) => kind === 'pool'))
    const anchor = found.find(({ kind }) => kind === 'pool-anchor')
    assert.equal([anchor?.standing, anchor?.cpu, anchor?.disk], ['expired', 0, 3])
    assert.equal(await removeLeftovers(account, found), [])
    assert.is(emulator.existing(), 0)
  }))

test('an anchor that names no pool does not make an older pool, made by hand, ours', () =>
  withAccount({}, async ({ account }) => {
    await account.warmPools.createWarmPool({ snapshot: SNAPSHOT, pool: 0, target: 'us' })
    await create(account, { 'troupe-owner': FAR, 'troupe-expiry': '2020-01-01', [ANCHOR_LABEL.purpose]: POOL_ANCHOR })
    assert.equal(kindsOf(await findLeftovers(account)), ['pool-anchor'])
  }))

test('a pool without an anchor is found only when asked for, by the name of its snapshot, and not while it is young', () =>
  withAccount({}, async ({ account, emulator }) => {
    const built = 'calc-0123456789ab'
    await account.snapshots.createSnapshot({ name: built, imageName: 'debian:12' })
    await until(async () => (await account.snapshots.getSnapshot(built)).data.state === 'active')
    for (const snapshot of [built, SNAPSHOT])
      await account.warmPools.createWarmPool({ snapshot, pool: 1, target: 'us' })
    await until(async () => emulator.existing() === 2)
    const old = later(account, 2 * HOUR_MS)
    assert.equal(await findLeftovers(old), [])
    assert.equal(await findLeftovers(account, { ownerless: true }), [])
    assert.equal(await findLeftovers(old, { ownerless: true, owners: [FAR] }), [])
    const found = await findLeftovers(old, { ownerless: true })
    assert.equal(
      found.map(({ kind, standing }) => [kind, standing]),
      [
        ['pool', 'none'],
        ['pool-member', 'none'],
      ],
    )
    assert.equal(await removeLeftovers(account, found), [])
    assert.is(emulator.existing(), 1)
  }))

test('a name of ours without labels is no leftover unless it is asked for', () =>
  withAccount({}, async ({ account }) => {
    await create(account, {}, 'troupe-sandbox-fork-1')
    assert.equal(await findLeftovers(later(account, 2 * HOUR_MS)), [])
    assert.equal(await findLeftovers(account, { ownerless: true }), [])
    assert.equal(kindsOf(await findLeftovers(later(account, 2 * HOUR_MS), { ownerless: true })), ['sandbox'])
  }))

test('kinds and ages narrow what is found, and an anchor never goes without its pool', () =>
  withAccount({}, async ({ account, emulator }) => {
    await killAll(startOther(emulator, 'sandboxes', 1), startOther(emulator, 'pool', 1))
    assert.equal(kindsOf(await findLeftovers(account, { kinds: ['sandbox'] })), ['sandbox'])
    const pools = await findLeftovers(account, { kinds: ['pool'] })
    assert.ok(pools.some(({ kind }) => kind === 'pool') && pools.every(({ kind }) => kind.startsWith('pool')))
    assert.equal(await findLeftovers(account, { olderThanMs: HOUR_MS }), [])
    assert.ok((await findLeftovers(later(account, 2 * HOUR_MS), { olderThanMs: HOUR_MS })).length >= 3)
  }))

test('what will not go is told, the rest goes, and the anchor stays as long as its pool', () =>
  withAccount({}, async ({ account, emulator }) => {
    await killAll(startOther(emulator, 'sandboxes', 1), startOther(emulator, 'pool', 2))
    await until(async () => emulator.existing() === 4)
    const refuse = () => Promise.reject(new TroupeError({ tag: 'daytona-forbidden', message: 'not allowed' }))
    const stubborn: Account = { ...account, warmPools: without(account, { deleteWarmPool: refuse }) }
    const found = await findLeftovers(account)
    const failures = await removeLeftovers(stubborn, found)
    assert.equal(kindsOf(failures.map(({ leftover }) => leftover)), [
      'pool',
      'pool-anchor',
      'pool-member',
      'pool-member',
    ])
    assert.equal(new Set(failures.map(({ problem }) => problem.tag)), new Set(['daytona-forbidden', 'pool-stays']))
    assert.is(emulator.existing(), 3)
    assert.equal(await removeLeftovers(account, await findLeftovers(account)), [])
    assert.is(emulator.existing(), 0)
  }))

test('a delete that never ends is told as what would not go', () =>
  withAccount({}, async ({ account, emulator }) => {
    await (await startOther(emulator, 'sandboxes', 3)).kill()
    emulator.faults.set({ kind: 'stuck-deleting', next: 1 })
    const failures = await removeLeftovers(account, await findLeftovers(account), undefined, { deadlineMs: 500 })
    assert.equal(
      failures.map(({ problem }) => problem.tag),
      ['sandbox-not-gone'],
    )
    assert.is((await findLeftovers(account)).length, 1, 'it is still listed')
  }))

test('a provider that asks to come back later is come back to', () =>
  withAccount({}, async ({ account, emulator }) => {
    await (await startOther(emulator, 'sandboxes', 8)).kill()
    emulator.faults.set({ kind: 'too-many-requests', next: 3 })
    const found = await findLeftovers(account)
    emulator.faults.set({ kind: 'too-many-requests', next: 3 })
    assert.equal(await removeLeftovers(account, found), [])
    assert.is(emulator.existing(), 0)
  }))

async function killAll(...others: readonly Promise<OtherProcess>[]): Promise<void> {
  await Promise.all(others.map(async other => (await other).kill()))
}

function without(account: Account, parts: Partial<Account['warmPools']>): Account['warmPools'] {
  return Object.assign(Object.create(account.warmPools), parts)
}

async function noPools({ warmPools }: Account) {
  return { ...(await warmPools.listWarmPools()), data: [] }
}

test.run()

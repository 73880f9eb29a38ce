import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { checkQuota, ensureSnapshot, type ReadySnapshot } from '../../../../src/runtimes/daytona/snapshot/index.ts'
import { CHANNELS } from '../../../../src/telemetry/channels.ts'
import { assertRejects } from '../../../support/assert-rejects.ts'
import { suite } from '../../../support/suite.ts'
import { open, withAccount } from './scene.ts'

const test = suite('quota')

const plan = (sandboxes: number) => ({ sandboxes, providerPool: false })
const QUOTA = { cpu: 10, memory: 20, disk: 40 }

const readySnapshot = (account: Account) => ensureSnapshot(account, { name: 'daytonaio/sandbox' })

test('what is in use counts, and the largest number that fits is told', () =>
  withAccount(
    async (account, emulator) => {
      const snapshot = { ...(await readySnapshot(account)), resources: { cpu: 2, memory: 2, disk: 5 } }
      await checkQuota(account, snapshot, plan(5))
      const error = await assertRejects(checkQuota(account, snapshot, plan(9)), 'quota-too-small')
      assert.match(error.message, /vCPUs: 18 wanted, 10 free of 10/)
      assert.match(error.message, /GiB of disk: 45 wanted, 40 free of 40/)
      assert.not.match(error.message, /GiB of memory/)
      assert.match(error.message, /At most 5 fit: lower --max-concurrent or --pool/)
      assert.is(error.data.details?.fits, 5)
      // Two of one vCPU and three GiB of disk each.
      for (const name of ['one', 'two']) await callDaytona('create', () => account.sandboxes.createSandbox({ name }))
      await checkQuota(account, snapshot, plan(4))
      const less = await assertRejects(checkQuota(account, snapshot, plan(5)), 'quota-too-small')
      assert.match(less.message, /vCPUs: 10 wanted, 8 free of 10/)
      const none = { ...snapshot, resources: { cpu: 9, memory: 1, disk: 1 } }
      await assertRejects(checkQuota(account, none, plan(1)), 'quota-too-small', /Not one fits/)
      const here = await open(emulator, 'us')
      await assertRejects(checkQuota(here, snapshot, plan(5)), 'quota-too-small', /in region us/)
      await here.release()
    },
    { quota: QUOTA },
  ))

/** An account that answers as it is told. */
const telling = (account: Account, answer: () => unknown): Account => {
  const organizations = Object.create(account.organizations, { getOrganizationUsageOverview: { value: answer } })
  return { ...account, organizations }
}

test('one region that is large enough will do where the account chooses, and one sandbox has limits of its own', () =>
  withAccount(async account => {
    const { data } = await account.organizations.getOrganizationUsageOverview(
      (await readySnapshot(account)).organizationId ?? '',
    )
    const [row] = data.regionUsage
    const rows = (...changes: readonly object[]) =>
      telling(account, async () => ({ data: { regionUsage: changes.map(change => ({ ...row, ...change })) } }))
    const snapshot: ReadySnapshot = { ...(await readySnapshot(account)), regions: [] }
    const small = { regionId: 'small', totalCpuQuota: 3 }
    await checkQuota(rows(small, { regionId: 'large' }), snapshot, plan(10))
    const other = { ...small, regionId: 'smaller', totalCpuQuota: 1 }
    await assertRejects(checkQuota(rows(other, small), snapshot, plan(10)), 'quota-too-small', /region small:/)
    await assertRejects(checkQuota(rows(small), { ...snapshot, regions: ['small'] }, plan(10)), 'quota-too-small')
    await checkQuota(rows(small), { ...snapshot, regions: ['elsewhere'] }, plan(10))
    const capped = rows({ maxCpuPerSandbox: 4, maxMemoryPerSandbox: 8, maxDiskPerSandbox: 10 })
    const large = { ...snapshot, resources: { cpu: 8, memory: 8, disk: 11 } }
    const error = await assertRejects(checkQuota(capped, large, plan(1)), 'quota-too-small')
    assert.match(error.message, /8 vCPUs of at most 4, 11 GiB of disk of at most 10/)
  }))

test('where the provider does not tell, nothing is claimed, and that is said once', () =>
  withAccount(async account => {
    const heard: unknown[] = []
    const hear = (message: unknown) => heard.push(message)
    subscribe(CHANNELS.sandbox, hear)
    try {
      const stranger = { ...(await readySnapshot(account)), organizationId: '00000000-0000-4000-8000-000000000000' }
      await checkQuota(account, stranger, plan(1e6))
      await checkQuota(account, stranger, plan(1e6))
      await checkQuota(account, { ...stranger, organizationId: undefined }, plan(1e6))
      assert.is(heard.length, 1)
      assert.match(JSON.stringify(heard), /"tag":"quota-unknown"/)
    } finally {
      unsubscribe(CHANNELS.sandbox, hear)
    }
  }))

test.run()

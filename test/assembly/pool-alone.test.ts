import * as assert from 'uvu/assert'
import { openPoolAlone } from '../../src/assembly/pool-alone.ts'
import { type ErrorData, TroupeError } from '../../src/errors.ts'
import type { PoolOptions } from '../../src/job/options.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'

const test = suite('the pool by itself')

const task = { env: 'fake', id: 'do', args: {}, slug: 'do' }
const COLD: PoolOptions = { strategy: 'cold', size: 0 }
const LEASE_MS = 5_000

function open(runtime: FakeRuntime, pool: PoolOptions = COLD) {
  const reports: ErrorData[] = []
  const report = (error: ErrorData) => void reports.push(error)
  return { reports, pool: openPoolAlone({ runtime, pool, maxSandboxes: 4, labels: { job: 'alone' }, report }) }
}

test('a sandbox is leased, carries the labels, and is gone when it was given back and the pool closed', async () => {
  const runtime = new FakeRuntime()
  const { pool } = open(runtime)
  const leased = await pool.lease(task, LEASE_MS)
  assert.is(leased.kind, 'cold')
  assert.is(runtime.requests[0]?.labels.job, 'alone')
  assert.is((await pool.stats()).leased, 1)
  leased.release({ sessionEnded: true })
  assert.equal(await pool.close(), [])
  assert.is(runtime.existing.size, 0)
})

test('what is expected is made ready, and found ready', async () => {
  const { pool } = open(new FakeRuntime(), { strategy: 'prewarm', size: 2 })
  pool.expect(2)
  while ((await pool.stats()).ready < 2) await new Promise(resolve => setImmediate(resolve))
  const leases = await Promise.all([pool.lease(task, LEASE_MS), pool.lease(task, LEASE_MS)])
  assert.equal(
    leases.map(({ kind }) => kind),
    ['hit', 'hit'],
  )
  await pool.close()
})

test('a create that fails for good is the reason of the lease’s rejection', async () => {
  const runtime = new FakeRuntime()
  runtime.failing = new TroupeError({ tag: 'no-quota', message: 'the account is full' })
  const { pool } = open(runtime)
  await assertRejects(pool.lease(task, LEASE_MS), 'provision-failed', /the account is full/)
  await pool.close()
})

test('what will not go is named at the end, once', async () => {
  const runtime = new FakeRuntime()
  const { pool } = open(runtime)
  const { sandboxId } = await pool.lease(task, LEASE_MS)
  runtime.undeletable = true
  const [first, second] = await Promise.all([pool.close(), pool.close()])
  assert.equal(first, [sandboxId])
  assert.is(second, first)
})

test.run()

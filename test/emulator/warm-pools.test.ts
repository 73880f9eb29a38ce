import * as assert from 'uvu/assert'
import { planRefill } from '../../src/emulator/refill-plan.ts'
import { toPoolDto } from '../../src/emulator/warm-pools.ts'
import { makeRandom } from '../../src/random.ts'
import { suite } from '../support/suite.ts'
import { makeScene } from './support/scene.ts'

const test = suite('emulator warm pools')

const SNAPSHOT = { snapshot: 'built', target: 'us' }

test('currentSize says full about 12 s before the members are there', async () => {
  const { clock, pools, problems } = makeScene()
  const pool = pools.create({ ...SNAPSHOT, pool: 128 })
  let countedAt = 0
  let thereAt = 0
  while (thereAt === 0 && clock.now() < 60_000) {
    await clock.advance(250)
    if (countedAt === 0 && toPoolDto(pool, 'org').currentSize === 128) countedAt = clock.now()
    if (pool.members.size === 128) thereAt = clock.now()
  }
  assert.ok(Math.abs(thereAt - countedAt - 12_000) < 1_500, `counted at ${countedAt}, there at ${thereAt}`)
  assert.equal(problems, [])
})

test('a drained pool of 128 is there again after about 13 s', async () => {
  const { clock, pools } = makeScene()
  const pool = pools.create({ ...SNAPSHOT, pool: 128 })
  await clock.advance(60_000)
  const claimed = new Set(Array.from({ length: 128 }, () => pools.claim(SNAPSHOT)?.id))
  assert.is(claimed.size, 128)
  assert.not.ok(claimed.has(undefined))
  assert.is(pools.claim(SNAPSHOT), undefined)
  await clock.advance(11_000)
  assert.ok(pool.members.size < 128)
  await clock.advance(4_000)
  assert.is(pool.members.size, 128)
})

test('256 take 28 s to come again, and 38 to 45 s the first time', () => {
  const last = (factor: number) => Math.max(...planRefill(256, factor, makeRandom(2)).map(({ readyMs }) => readyMs))
  assert.ok(Math.abs(last(1) - 28_000) < 1_500, String(last(1)))
  assert.ok(last(1.5) > 38_000 && last(1.5) < 45_000, String(last(1.5)))
})

test('a claim needs the same snapshot, region and resources, and no variables', async () => {
  const { clock, pools } = makeScene()
  pools.create({ ...SNAPSHOT, pool: 1 })
  await clock.advance(30_000)
  const size = { cpu: 2, memory: 1, disk: 3 }
  for (const other of [
    { ...SNAPSHOT, snapshot: 'other' },
    { ...SNAPSHOT, target: 'eu' },
    { ...SNAPSHOT, resources: size },
    { ...SNAPSHOT, env: { A: '1' } },
  ])
    assert.is(pools.claim(other), undefined)
  assert.is(pools.claim({ ...SNAPSHOT, env: {}, name: 'mine' })?.name, 'mine')
})

test('members have the resources of their snapshot, and a create that asks for those gets one', async () => {
  const { clock, pools } = makeScene()
  const resources = { cpu: 2, memory: 4, disk: 8 }
  pools.create({ ...SNAPSHOT, pool: 1, resources })
  await clock.advance(30_000)
  assert.is(pools.claim({ ...SNAPSHOT, resources: { ...resources, cpu: 1 } }), undefined)
  assert.equal(pools.claim({ ...SNAPSHOT, resources: { ...resources } })?.resources, resources)
})

test('a snapshot has one pool in a region', () => {
  const { pools } = makeScene()
  pools.create({ ...SNAPSHOT, pool: 0 })
  assert.throws(() => pools.create({ ...SNAPSHOT, pool: 3 }), /already exists/)
  pools.create({ ...SNAPSHOT, target: 'eu', pool: 0 })
})

test('a pool that is made smaller or deleted takes its members along', async () => {
  const { clock, pools, sandboxes } = makeScene()
  const pool = pools.create({ ...SNAPSHOT, pool: 8 })
  await clock.advance(30_000)
  pools.resize(pool, 3)
  await clock.advance(2_000)
  assert.is(sandboxes.records.size, 3)
  pools.remove(pool)
  await clock.advance(60_000)
  assert.is(sandboxes.records.size, 0)
})

test('a pool over the quota says why it stays small', async () => {
  const { clock, pools, sandboxes } = makeScene()
  const pool = pools.create({ ...SNAPSHOT, pool: 500 })
  await clock.advance(300_000)
  assert.is(sandboxes.records.size, 400)
  assert.match(pool.errorReason ?? '', /Total CPU limit exceeded/)
})

test.run()

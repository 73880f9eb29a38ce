/** What forks are for: a batch that is there sooner. By the emulator's figures and a virtual clock; nothing here takes time. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { TimedProvider } from './timed-provider.ts'

const test = suite('pool: growth by forks')

const quantile = (sorted: readonly number[], share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
const source = { type: 'fork', parents: 4, required: true } as const

/** Parents that are there already, as they are from a job's second batch on. */
function rooted(demand: number): TimedProvider {
  const timed = new TimedProvider({ source })
  timed.pool.demand(demand)
  timed.until(() => timed.pool.state.ledger.count('root') === Math.min(4, demand))
  return timed
}

test('from kept parents a batch is served in the time of the doublings that it needs', () => {
  for (const [width, p50Ms, lastMs] of [
    [1, 1_900, 1_900],
    [32, 3_100, 3_800],
    [128, 4_400, 5_300],
    [256, 5_000, 6_000],
  ] as const) {
    const waits = rooted(width + 1).burst(width)
    assert.ok(quantile(waits, 0.5) < p50Ms, `${width} wide: p50 ${quantile(waits, 0.5)} ms`)
    assert.ok(quantile(waits, 1) < lastMs, `${width} wide: the last after ${quantile(waits, 1)} ms`)
  }
})

test('a batch that finds nothing to fork yet is served about as soon as by creates, and a wide one much sooner', () => {
  for (const [width, atMost] of [
    [1, 1.15],
    [32, 1.15],
    [128, 1.15],
    [256, 0.65],
  ] as const) {
    const forked = new TimedProvider({ source }).burst(width)
    const created = new TimedProvider({}).burst(width)
    for (const share of [0.5, 0.95])
      assert.ok(
        quantile(forked, share) < atMost * quantile(created, share),
        `${width} wide: p${share * 100} ${quantile(forked, share)} ms, by creates ${quantile(created, share)} ms`,
      )
  }
})

test('a batch costs one create for each of its requests, and the parents', () => {
  const timed = rooted(129)
  timed.burst(128)
  assert.is(timed.pool.creates.length, 4 + 128)
  assert.equal(timed.pool.state.granted, { hit: 0, cold: 0, claim: 0, fork: 128 })
})

test('a shelf of 256 is filled by forks well before creates have filled it', () => {
  const fill = (config: ConstructorParameters<typeof TimedProvider>[0]) => {
    const timed = new TimedProvider({ strategy: 'prewarm', size: 256, ...config })
    timed.pool.demand(1_000)
    timed.until(() => timed.pool.state.ledger.count('ready') === 256)
    return timed.pool.now
  }
  assert.ok(fill({ source }) < 0.7 * fill({}))
})

test.run()

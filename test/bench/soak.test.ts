import * as assert from 'uvu/assert'
import { FAULTS, faultOf } from '../../bench/soak/faults.ts'
import type { SoakCase, SoakFigures } from '../../bench/soak/one.ts'
import { fitLine, grows } from '../../bench/soak/slope.ts'
import { toTable } from '../../bench/soak.ts'
import { suite } from '../support/suite.ts'

const test = suite('soak')

const near = (found: number, wanted: number) => assert.ok(Math.abs(found - wanted) < 1e-9, `${found}, not ${wanted}`)

test('the line through points has their slope, and the error of the slope comes from what lies beside it', () => {
  const exact = fitLine([0, 1, 2, 3].map(x => [x, 5 + 2 * x] as const))
  near(exact.slope, 2)
  near(exact.standardError, 0)
  // Residuals of ±1 around y = 0: their sum of squares is 4, over 2 degrees of freedom and a spread of 5.
  const noisy = fitLine([
    [0, 1],
    [1, -1],
    [2, -1],
    [3, 1],
  ])
  near(noisy.slope, 0)
  near(noisy.standardError, Math.sqrt(4 / 2 / 5))
})

test('a line grows when it goes up by more than what is small, and than its error', () => {
  assert.ok(grows({ slope: 5, standardError: 2 }, 1))
  assert.not(grows({ slope: 0.5, standardError: 0.01 }, 1))
  assert.not(grows({ slope: 5, standardError: 3 }, 1))
  assert.not(grows({ slope: -5, standardError: 0.1 }, 1))
})

test('each fault comes about as often as it says, always for the same seeds', () => {
  const runs = 100_000
  const counts = new Map<string, number>()
  for (let seed = 0; seed < runs; seed += 1) {
    const fault = faultOf(seed)
    assert.is(fault, faultOf(seed))
    if (fault !== undefined) counts.set(fault, (counts.get(fault) ?? 0) + 1)
  }
  for (const [fault, share] of Object.entries(FAULTS)) {
    const found = counts.get(fault) ?? 0
    assert.ok(Math.abs(found - share * runs) < 5 * Math.sqrt(share * runs), `${fault}: ${found} of ${runs}`)
  }
})

const soakCase: SoakCase = { rollouts: 10_000, width: 512, seed: 1, sampleEvery: 500, hostKillEvery: 5_000 }

function figuresOf(change: Partial<SoakFigures>, growth = 0, slowing = 0, threadGrowth = 0): SoakFigures {
  const samples = Array.from({ length: 21 }, (_, place) => ({
    rollouts: place * 500,
    atMs: place * 500 * (1 + slowing * place),
    rssBytes: 2 ** 27,
    ownBytes: 2 ** 27 + growth * place,
    heapBytes: 2 ** 25,
    threadBytes: 2 ** 25 + threadGrowth * place,
    handles: 100 + (place % 3),
    descriptors: 40,
  }))
  const none = { planned: 10_000, delivered: 10_000, durable: 10_000, wrongRewards: 0, hostKills: 2, left: [] }
  return { ...none, outcomes: { graded: 9_900, 'environment-error': 100 }, samples, ...change }
}

const missed = (figures: SoakFigures) =>
  toTable(soakCase, figures)
    .rows.filter(({ met }) => met === false)
    .map(({ name }) => name)

test('what is flat, as fast at the end and complete meets every aim', () => {
  assert.equal(missed(figuresOf({})), [])
})

test('growth, slowing down, and whatever is lost or left each miss their aim', () => {
  assert.equal(missed(figuresOf({}, 600_000)), ['own memory, slope'])
  assert.equal(missed(figuresOf({}, 0, 0.05)), ['drift'])
  assert.equal(missed(figuresOf({}, 0, 0, 600_000)), ["threads' heaps and buffers, slope"])
  assert.equal(missed(figuresOf({ delivered: 9_999 })), ['not delivered or not durable'])
  assert.equal(missed(figuresOf({ durable: 9_998 })), ['not delivered or not durable'])
  assert.equal(missed(figuresOf({ wrongRewards: 1 })), ['rewards without a grade, grades without a reward'])
  assert.equal(missed(figuresOf({ left: ['process 7'] })), ['left behind: process 7'])
})

test.run()

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { measureBaseline } from '../../../src/training/baseline/disagreement.ts'
import { renderBaseline, renderVerdict } from '../../../src/training/baseline/render.ts'
import { suite } from '../../support/suite.ts'

const test = suite('training baseline')

const task = (slug: string, rewards: readonly number[], failed = 0) => ({ slug, rewards, failed })
const repeat = (count: number, rewards: readonly number[]) =>
  Array.from({ length: count }, (_, index) => task(`t-${index}`, rewards))

test('groups that disagree can be learned from; the verdict counts them', () => {
  const baseline = measureBaseline([...repeat(11, [1, 0, 0, 1]), ...repeat(5, [1, 1, 1, 1])])
  assert.equal([baseline.verdict, baseline.disagreeing, baseline.groups], ['learnable', 11, 16])
  assert.is(renderVerdict(baseline), 'learnable: 11 of 16 groups disagree')
  assert.is(baseline.passRate, (11 * 2 + 5 * 4) / 64)
})

test('where attempts agree the verdict says in which way', () => {
  const verdict = (rewards: readonly number[]) => measureBaseline(repeat(4, rewards)).verdict
  assert.is(verdict([1, 1, 1]), 'too-easy')
  assert.is(verdict([0, 0, 0]), 'too-hard')
  assert.is(verdict([0.5, 0.5, 0.5]), 'attempts-agree')
  assert.is(measureBaseline([...repeat(3, [1, 1]), ...repeat(3, [0, 0])]).verdict, 'attempts-agree')
})

test('what has no grade counts as failed, never as a reward of zero', () => {
  const baseline = measureBaseline([task('a', [1], 3), task('b', [], 4)])
  assert.equal(
    [baseline.verdict, baseline.runs, baseline.graded, baseline.passRate, baseline.groups],
    ['nothing-graded', 8, 1, 1, 0],
  )
  assert.is(measureBaseline([task('b', [], 4)]).passRate, null)
})

test('the share of informative groups of each size is that of all groups that could be drawn', () => {
  const { sizes } = measureBaseline([task('a', [1, 1, 0, 0])])
  assert.equal(
    sizes.map(({ group, informative }) => [group, Math.round(informative * 1e9) / 1e9]),
    // Of the 6 pairs of 1 1 0 0, four differ.
    [
      [2, Math.round((4 / 6) * 1e9) / 1e9],
      [4, 1],
    ],
  )
})

test('estimates are those of counting every subset, and grow with the size', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 2, maxLength: 8 }), rewards => {
      const { sizes } = measureBaseline([task('a', rewards)])
      for (const [index, { group, informative }] of sizes.entries()) {
        assert.ok(Math.abs(informative - countSubsets(rewards, group)) < 1e-9)
        assert.ok(informative >= (sizes[index - 1]?.informative ?? 0) - 1e-9)
      }
    }),
  )
})

test('a person reads tasks, rates with their interval, sizes and last the verdict', () => {
  const text = renderBaseline(measureBaseline([task('one', [1, 0, 1, 0]), task('two', [0, 0, 0], 1)]))
  for (const part of ['one', 'two', '7 of 8 runs graded, 2 solved: 28.6 % (95 %: 8.2-64.1)', '% of those of 2'])
    assert.match(text, part)
  assert.is(text.split('\n').at(-1), 'learnable: 1 of 2 groups disagree')
})

/** The share of all subsets of that size whose rewards differ. */
function countSubsets(rewards: readonly number[], size: number): number {
  let [all, differing] = [0, 0]
  for (let mask = 0; mask < 2 ** rewards.length; mask++) {
    const drawn = rewards.filter((_, place) => (mask >> place) & 1)
    if (drawn.length !== size) continue
    all += 1
    if (drawn.some(reward => reward !== drawn[0])) differing += 1
  }
  return differing / all
}

test.run()

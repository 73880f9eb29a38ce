import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { checkGroups, hasSpread } from '../../src/training/check-groups.ts'
import { suite } from '../support/suite.ts'
import { makeTrainingGroups, makeTrainingRun } from './fixtures.ts'

const test = suite('check groups')

function refuses(tag: string, says: RegExp, check: () => unknown): void {
  assert.throws(check, (error: unknown) => hasTag(error, tag) && says.test(error.message))
}

test('groups are the slices the service will take, named by their runs', () => {
  const runs = makeTrainingGroups(3, 2)
  assert.equal(
    checkGroups(runs, 2).map(({ groupId, inputs }) => [groupId, inputs.length]),
    [
      ['group-0', 2],
      ['group-1', 2],
      ['group-2', 2],
    ],
  )
  assert.equal(
    checkGroups(runs).map(({ groupId }) => groupId),
    ['inputs 0-5'],
  )
  assert.is(checkGroups(runs.slice(2, 4))[0]?.groupId, 'group-1')
})

test('whichever run is taken from, put into or moved within whole groups, the batch is refused', () => {
  const size = 3
  const place = fc.nat({ max: 4 * size - 1 })
  fc.assert(
    fc.property(place, place, (from, to) => {
      const runs = makeTrainingGroups(4, size)
      const [taken] = runs.splice(from, 1)
      assert.throws(() => checkGroups(runs, size), /7|8|10|11|divide/)
      if (taken === undefined) return
      runs.splice(to, 0, taken)
      const moved = Math.floor(from / size) !== Math.floor(to / size)
      if (moved) refuses('group-not-together', /side by side/, () => checkGroups(runs, size))
      else assert.is(checkGroups(runs, size).length, 4)
    }),
    { numRuns: 100 },
  )
})

test('one group id twice is one group that is too long', () => {
  const runs = makeTrainingGroups(1, 4)
  refuses('group-not-together', /run-0-2 \(place 2\)/, () => checkGroups(runs, 2))
})

test('sizes that are none, batches that are none and rewards that are none are refused', () => {
  const runs = makeTrainingGroups(1, 4)
  refuses('no-runs', /Skip the call/, () => checkGroups([], 4))
  for (const size of [0, -4, 1.5, Number.NaN])
    refuses('group-size-mismatch', /groupSize is/, () => checkGroups(runs, size))
  for (const reward of [null, Number.NaN])
    refuses('no-reward', /run-0-9/, () => checkGroups([...runs, makeTrainingRun({ member: 9, reward })]))
})

test('traces stand for themselves: their groups are not known here', () => {
  const runs = makeTrainingGroups(2, 2)
  assert.equal(
    checkGroups(['a', 'b', ...runs], 2).map(({ groupId }) => groupId),
    ['inputs 0-1', 'group-0', 'group-1'],
  )
  const [run, other, third] = runs
  if (run === undefined || other === undefined || third === undefined) throw new Error('there are four')
  refuses('group-not-together', /run-0-1/, () => checkGroups([run, 'a', other, third], 2))
})

test('spread is a difference of rewards within a group', () => {
  const same = makeTrainingGroups(2, 2).map((run, place) => ({
    ...run,
    trajectory: run.trajectory,
    reward: place < 2 ? 0 : 1,
  }))
  assert.not(hasSpread(checkGroups(same, 2)))
  assert.ok(hasSpread(checkGroups(same)))
  assert.ok(hasSpread(checkGroups(['trace'])))
})

test.run()

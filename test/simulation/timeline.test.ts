import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { makeTimeline } from '../../src/simulation/timeline.ts'
import { suite } from '../support/suite.ts'

const test = suite('simulation timeline')

test('events happen in the order of their times, and of their scheduling where those are the same', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 200 }), delays => {
      const timeline = makeTimeline()
      const happened: (readonly [at: number, place: number])[] = []
      delays.forEach((delay, place) => {
        timeline.after(delay, () => happened.push([timeline.now(), place]))
      })
      while (timeline.next());
      const expected = delays
        .map((delay, place) => [delay, place] as const)
        .toSorted(([one, first], [other, second]) => one - other || first - second)
      assert.equal(happened, expected)
      assert.is(timeline.happened, delays.length)
    }),
  )
})

test('what an event schedules is counted from its own time, and never lies in the past', () => {
  const timeline = makeTimeline()
  const at: number[] = []
  timeline.after(10, () => {
    timeline.after(-5, () => at.push(timeline.now()))
    timeline.after(5, () => at.push(timeline.now()))
  })
  timeline.after(12, () => at.push(timeline.now()))
  while (timeline.next());
  assert.equal(at, [10, 12, 15])
})

test.run()

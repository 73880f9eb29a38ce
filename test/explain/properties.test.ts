/** Whatever a journal holds: the parts of a step make up its wall time, and the critical path goes through it without a gap. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { explainStep } from '../../src/explain/explain-step.ts'
import { type KeptStep, toTimeline } from '../../src/explain/to-timeline.ts'
import type { LeaseKind } from '../../src/runtimes/runtime.ts'
import { suite } from '../support/suite.ts'
import { BEGAN, makeCall, makeKept, makeOptim, makeRun } from './scene.ts'

const test = suite('explain: properties')
const NEAR_MS = 0.01

const ms = (max: number) => fc.double({ min: 0, max, noNaN: true })
const whole = (max: number) => fc.integer({ min: 0, max })
const lease = fc.constantFrom<LeaseKind | null>('hit', 'cold', 'claim', 'fork', null)
const timings = fc.record(
  {
    provisioning: ms(300),
    connecting: ms(20),
    starting: ms(20),
    agent: ms(500),
    grading: ms(200),
    verifying: ms(200),
    cleanup: ms(20),
  },
  { requiredKeys: [] },
)
const turn = fc.record({ role: fc.constantFrom('assistant' as const, 'tool' as const), atMs: ms(600), tookMs: ms(200) })
const member = fc.record({
  late: whole(40),
  slack: fc.integer({ min: -1, max: 60 }),
  timings,
  turns: fc.array(turn, { maxLength: 6 }),
  lease,
  attempt: fc.constantFrom(1, 1, 1, 2),
})
const group = fc.record({ from: whole(2_000), members: fc.array(member, { minLength: 1, maxLength: 4 }) })

/** Calls need not follow their groups: what a journal that was written by several processes holds is explained, too. */
const kept: fc.Arbitrary<KeptStep> = fc
  .record({
    groups: fc.array(group, { minLength: 1, maxLength: 8 }),
    calls: fc.array(fc.record({ from: whole(3_000), took: ms(400), groups: fc.array(whole(9), { maxLength: 3 }) }), {
      maxLength: 5,
    }),
    optim: fc.option(fc.record({ from: whole(4_000), took: ms(300) })),
    before: fc.option(whole(2_000)),
    order: fc.constantFrom('planned' as const, 'completion' as const, undefined),
  })
  .map(({ groups, calls, optim, before, order }) =>
    makeKept({
      runs: groups.flatMap(({ from, members }, index) =>
        members.map(({ late, slack, ...rest }, place) => {
          const took = Object.values(rest.timings).reduce((sum, each) => sum + (each ?? 0), 0)
          const begins = from + late
          return makeRun(index, place, { ...rest, from: begins, to: Math.round(begins + Math.max(0, took + slack)) })
        }),
      ),
      calls: calls.map((call, place) => makeCall(place, call.groups, call.from, call.from + call.took)),
      optim: optim === null ? undefined : makeOptim(optim.from, optim.from + optim.took),
      order,
      beforeEndedAt: before === null ? undefined : BEGAN + before,
    }),
  )

function explain(step: KeptStep) {
  const timeline = toTimeline(step)
  if (timeline === undefined) throw new Error('nothing happened')
  return { ...explainStep(timeline), timeline }
}

const near = (one: number, other: number, says: string) =>
  assert.ok(Math.abs(one - other) < NEAR_MS, `${says}: ${one}, ${other}`)
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

test('parts on the critical path sum to the wall time, those of rollouts to their durations', () => {
  fc.assert(
    fc.property(kept, step => {
      const { parts, timeline, wallMs } = explain(step)
      near(sum(parts.map(part => part.pathMs)), wallMs, 'critical path')
      const durations = timeline.runs.map(({ from, to }) => to - from)
      near(sum(parts.map(part => part.rolloutsMs)), sum(durations), 'rollouts')
      for (const part of parts) assert.ok(part.stragglersMs <= part.pathMs + NEAR_MS, part.part)
    }),
  )
})

test('the critical path is contiguous, from the start of the step to its end', () => {
  fc.assert(
    fc.property(kept, step => {
      const { path, wallMs } = explain(step)
      let at = 0
      for (const { from, to } of path) {
        assert.is(from, at)
        assert.ok(to > from)
        at = to
      }
      near(at, wallMs, 'its end')
    }),
  )
})

test('what overlapped sums to the wall time, and nothing of it is less than none', () => {
  fc.assert(
    fc.property(kept, step => {
      const { overlap, wallMs } = explain(step)
      near(sum(Object.values(overlap)), wallMs, 'overlap')
      for (const value of Object.values(overlap)) assert.ok(value >= -NEAR_MS, JSON.stringify(overlap))
    }),
  )
})

test('the order in which runs and calls are read does not matter', () => {
  const shuffled = kept.chain(step =>
    fc
      .tuple(
        fc.shuffledSubarray([...step.runs], { minLength: step.runs.length }),
        fc.shuffledSubarray([...step.calls], { minLength: step.calls.length }),
      )
      .map(([runs, calls]) => ({ step, other: { ...step, runs, calls } })),
  )
  fc.assert(
    fc.property(shuffled, ({ step, other }) => {
      const { timeline: _, ...one } = explain(step)
      const { timeline: __, ...again } = explain(other)
      assert.equal(again, one)
    }),
  )
})

test('no suggestion promises more than the step took, and each shows its figures', () => {
  fc.assert(
    fc.property(kept, step => {
      const { suggestions, wallMs } = explain(step)
      for (const { savesMs, text } of suggestions) {
        assert.ok(savesMs > 0 && savesMs <= wallMs + NEAR_MS, text)
        assert.match(text, /\d/)
        assert.not.match(text, /NaN|Infinity|undefined|[ (]-\d/)
      }
    }),
  )
})

test.run()

import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { toJobId } from '../../src/ids.ts'
import { planGroups } from '../../src/taskset/plan-groups.ts'
import type { Task } from '../../src/taskset/task.ts'
import { suite } from '../support/suite.ts'

const test = suite('plan-groups')
const jobId = toJobId('job-1')
const toTask = (slug: string): Task => ({ env: 'calc', id: 'fix', args: {}, slug })
const slugs = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 20 })
const size = fc.integer({ min: 1, max: 8 })

test('the same request gives the same plan, each task once and whole', () => {
  fc.assert(
    fc.property(slugs, size, fc.nat(), fc.nat(9), (names, group, seed, step) => {
      const request = { jobId, tasks: names.map(toTask), group, seed, step }
      const plan = planGroups(request)
      assert.equal(plan, planGroups(request))
      assert.equal(plan.map(({ task }) => task.slug).sort(), [...names].sort())
      assert.equal(
        plan.map(({ index }) => index),
        names.map((_, index) => index),
      )
      for (const { members } of plan)
        assert.equal(
          members.map(({ member }) => member),
          Array.from({ length: group }, (_, member) => member),
        )
      const ids = plan.flatMap(({ groupId, members }) => [groupId, ...members.map(({ runId }) => runId)])
      assert.is(new Set<string>(ids).size, ids.length)
    }),
  )
})

test("a group's ids and seeds do not depend on the order of the tasks, on other tasks or on the group's size", () => {
  fc.assert(
    fc.property(slugs, size, fc.nat(), (names, group, seed) => {
      const whole = planGroups({ jobId, tasks: names.map(toTask), group: group + 1, seed, step: 3 })
      for (const name of names.slice(0, 3)) {
        const [alone] = planGroups({ jobId, tasks: [toTask(name)], group, seed, step: 3 })
        const within = whole.find(({ task }) => task.slug === name)
        assert.is(alone?.groupId, within?.groupId)
        assert.equal(alone?.members, within?.members.slice(0, group))
      }
    }),
  )
})

test('seed and step change the order and the seeds; only job, step and slug change the ids', () => {
  const tasks = Array.from({ length: 16 }, (_, index) => toTask(`t${index}`))
  const plan = (seed: number, step: number) => planGroups({ jobId, tasks, group: 2, seed, step })
  const order = (groups: ReturnType<typeof plan>) => groups.map(({ task }) => task.slug)
  const ids = (groups: ReturnType<typeof plan>) => groups.map(({ groupId }) => groupId).sort()
  assert.not.equal(order(plan(1, 0)), order(plan(2, 0)))
  assert.not.equal(order(plan(1, 0)), order(plan(1, 1)))
  assert.equal(ids(plan(1, 0)), ids(plan(2, 0)))
  assert.not.equal(ids(plan(1, 0)), ids(plan(1, 1)))
})

test('a later round has ids and seeds of its own, and round 0 those of a step without rounds', () => {
  fc.assert(
    fc.property(slugs, size, fc.nat(), fc.integer({ min: 1, max: 5 }), (names, group, seed, round) => {
      const request = { jobId, tasks: names.map(toTask), group, seed, step: 2 }
      const first = planGroups(request)
      assert.equal(planGroups({ ...request, round: 0, firstIndex: 0 }), first)
      const later = planGroups({ ...request, round, firstIndex: 7 })
      const ids = [...first, ...later].flatMap(({ groupId, members }) => [groupId, ...members.map(each => each.runId)])
      assert.is(new Set<string>(ids).size, ids.length)
      assert.equal(
        later.map(({ index }) => index),
        names.map((_, index) => index + 7),
      )
      assert.not.equal(later[0]?.members[0]?.seed, first.find(each => each.task === later[0]?.task)?.members[0]?.seed)
    }),
  )
})

test('a group of 0, of a half or of less than nothing is refused', () => {
  for (const group of [0, 0.5, -1, Number.NaN])
    try {
      planGroups({ jobId, tasks: [toTask('a')], group, seed: 0, step: 0 })
      assert.unreachable()
    } catch (error) {
      assert.ok(hasTag(error, 'bad-group-size'))
    }
})

test.run()

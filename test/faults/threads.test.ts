/** Threads that end, hang or run out of memory while rollouts run in them. */
import * as assert from 'uvu/assert'
import type { RunOptions } from '../../src/job/options.ts'
import { suite } from '../support/suite.ts'
import { allGraded, surviveWith } from './harness/all-graded.ts'
import { type Act, withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of threads')

const MEMBERS = 2
const FAULTS: readonly (readonly [
  title: string,
  acts: readonly [Act, ...Act[]],
  seeds: number,
  options: RunOptions,
])[] = [
  ['is killed', ['exit', 'throw', 'reject'], 8, {}],
  ['hangs in a loop or in a native wait', ['spin', 'freeze'], 4, { threadHangMs: 1_500 }],
  ['runs out of memory', ['memory'], 2, { threadHeapBytes: 48 * 1024 * 1024 }],
]

for (const [title, acts, seeds, options] of FAULTS)
  faultTest(test, `a thread that ${title} costs no rollout its grade`, { seeds }, draw => {
    const groups = draw.whole(2, 4)
    const arrivals = draw.moments(draw.whole(1, 2), groups * MEMBERS)
    const schedule = arrivals.map(arrival => ({ phase: 'agent' as const, arrival, act: draw.one(acts) }))
    return withFaultScene(schedule, async scene => {
      const threads = draw.whole(1, 2)
      await allGraded(scene, { groups, members: MEMBERS, seed: draw.seed, options: { ...options, threads } })
      assert.is(scene.struck().length, schedule.length)
      return schedule.length
    })
  })

faultTest(test, 'a task that ends every thread it runs in is given up without a reward, alone', { seeds: 2 }, draw => {
  const groups = draw.whole(2, 3)
  const task = draw.whole(0, groups - 1)
  return withFaultScene([{ phase: 'agent', task, act: draw.one(['exit', 'throw', 'reject']) }], async scene => {
    const job = { groups, members: 1, seed: draw.seed }
    const { balance } = await surviveWith(scene, job, { stops: ['thread-lost'], tags: ['thread-lost'] })
    assert.equal(balance, { graded: groups - 1, failed: 1, pending: 0 })
    return scene.struck().length
  })
})

runFaults(test)

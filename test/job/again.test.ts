/** A step that one job runs more than once. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { hasTag } from '../../src/errors.ts'
import { Job, type JobOptions } from '../../src/job/job.ts'
import type { RunOptions } from '../../src/job/options.ts'
import type { Group } from '../../src/rollout/group.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { repository, withScene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'

const test = suite('a step that is run again')

const arith = (name: string) => join(repository, 'environments/arith', name)
const taskset = (await Taskset.load(arith('tasks.ts'))).select(['0-3'])

/** Counts who begins; those after the first `free` stay until they are let go or cancelled. */
function countingAgent(free = Number.POSITIVE_INFINITY) {
  let begun = 0
  const held: (() => void)[] = []
  const agent = createAgent({
    name: 'counting',
    async run({ signal }) {
      begun += 1
      if (begun > free)
        await new Promise<void>((resolve, reject) => {
          held.push(resolve)
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
      return { answer: '1', stop: 'done' }
    },
  })
  return {
    agent,
    begun: () => begun,
    release() {
      free = Number.POSITIVE_INFINITY
      for (const go of held.splice(0)) go()
    },
  }
}

async function collect(
  job: Job,
  agent: ReturnType<typeof createAgent>,
  options: RunOptions,
  tasks: Taskset = taskset,
): Promise<Group[]> {
  const groups: Group[] = []
  for await (const group of job.stream(tasks, agent, options)) groups.push(group)
  return groups
}

const told = (groups: readonly Group[]) =>
  groups.map(({ groupId, end, runs }) => [groupId, end.type, runs.map(({ runId, reward }) => [runId, reward])]).sort()

/** Where groups that ended are found again. */
const KEEPING: readonly (readonly [string, (journal: string) => JobOptions])[] = [
  ['in memory', () => ({})],
  ['in its journal', journal => ({ journal, keepGroups: false })],
  ['in both', journal => ({ journal })],
]

for (const [where, keeping] of KEEPING) {
  test(`gives the groups that it has ${where}, and runs none of them`, () =>
    withScene(async scene => {
      const { agent, begun } = countingAgent()
      const runtime = new LocalRuntime(arith('env.ts'))
      await using job = await Job.start('again', { runtime, threads: 0, ...keeping(scene.journal) })
      const options = { group: 2, step: 3, seed: 1 }
      const first = await collect(job, agent, options)
      const second = await collect(job, agent, options)
      assert.is(first.length, 4)
      assert.equal(told(second), told(first))
      assert.is(begun(), 8)
      const { finishedGroups, finishedRuns, plannedGroups, plannedRuns } = job.snapshot()
      assert.equal([finishedGroups, finishedRuns], [plannedGroups, plannedRuns])
      assert.ok(job.groups.length <= 4, 'the job has each of them once')
    }))

  test(`after a cancel gives those that had ended, kept ${where}, and runs the others`, () =>
    withScene(async scene => {
      const { agent, begun, release } = countingAgent(3)
      const runtime = new LocalRuntime(arith('env.ts'))
      await using job = await Job.start('cancelled', { runtime, threads: 0, ...keeping(scene.journal) })
      const controller = new AbortController()
      const options = { group: 2, step: 0, seed: 1, maxConcurrent: 4 }
      const seen: Group[] = []
      const error = await (async () => {
        for await (const group of job.stream(taskset, agent, { ...options, signal: controller.signal })) {
          seen.push(group)
          controller.abort()
        }
      })().catch((thrown: unknown) => thrown)
      assert.ok(hasTag(error, 'run-cancelled'), String(error))
      assert.is(seen.length, 1)
      const before = begun()
      release()
      const all = await collect(job, agent, options)
      assert.is(all.length, 4)
      assert.ok(all.every(({ runs }) => runs.length === 2 && runs.every(({ reward }) => reward !== null)))
      assert.is(told(all).filter(([id]) => id === seen[0]?.groupId).length, 1)
      const rerun = begun() - before
      assert.ok(rerun <= 6, `${rerun} of the 6 that were left were run`)
      const { finishedRuns, plannedRuns } = job.snapshot()
      assert.is(finishedRuns, plannedRuns)
    }))
}

test('is run anew where nobody has kept anything of it', () =>
  withScene(async () => {
    const { agent, begun } = countingAgent()
    const runtime = new LocalRuntime(arith('env.ts'))
    await using job = await Job.start('anew', { runtime, threads: 0, keepGroups: false })
    const first = await collect(job, agent, { step: 0, seed: 1 })
    const second = await collect(job, agent, { step: 0, seed: 1 })
    assert.equal(told(second), told(first))
    assert.is(begun(), 8)
    assert.is(job.snapshot().finishedRuns, job.snapshot().plannedRuns)
  }))

test('is refused before anything starts while it is being run, and other tasks of it are not', () =>
  withScene(async () => {
    const { agent, begun, release } = countingAgent(0)
    const runtime = new LocalRuntime(arith('env.ts'))
    await using job = await Job.start('twice', { runtime, threads: 0 })
    const running = collect(job, agent, { step: 5 }, taskset.select(['0-1']))
    let refused: unknown
    try {
      job.stream(taskset, agent, { step: 5 })
    } catch (thrown) {
      refused = thrown
    }
    assert.ok(hasTag(refused, 'step-running'), String(refused))
    assert.match(String(refused), /step 5, round 0 of the job "twice" is being run, with 2 of the same tasks/)
    const others = collect(job, agent, { step: 5 }, taskset.select(['2-3']))
    const another = collect(job, agent, { step: 5, round: 1 }, taskset.select(['0-1']))
    release()
    assert.equal(
      (await Promise.all([running, others, another])).map(({ length }) => length),
      [2, 2, 2],
    )
    assert.equal([job.groups.length, begun(), job.snapshot().plannedRuns], [6, 6, 6])
  }))

test.run()

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { hasTag } from '../../src/errors.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import type { ProvisionRequest, Runtime } from '../../src/runtimes/runtime.ts'
import type { Chunk } from '../../src/stream/chunk.ts'
import { chunkGroups } from '../../src/stream/chunk-groups.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { repository, withScene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'

const test = suite('job')
const arith = (name: string) => join(repository, 'environments/arith', name)
const taskset = (await Taskset.load(arith('tasks.ts'))).select(['0-3'])
const makeRuntime = () => new LocalRuntime(arith('env.ts'))

/** Adds the numbers of its prompt, once `ready` allows. */
const adder = (ready: (signal: AbortSignal) => Promise<void> = async () => {}) =>
  createAgent({
    name: 'adder',
    async run({ prompt, signal }) {
      await ready(signal)
      const numbers = (String(prompt).match(/-?\d+/g) ?? []).map(Number)
      return { answer: String((numbers[0] ?? 0) + (numbers[1] ?? 0)), stop: 'done' }
    },
  })

/** Lets the first `count` agents go on; the others wait until they are cancelled. */
function onlyFirst(count: number): (signal: AbortSignal) => Promise<void> {
  let begun = 0
  return signal =>
    ++begun <= count
      ? Promise.resolve()
      : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

test('a closure agent works with threads: 0, and is refused with threads', () =>
  withScene(async scene => {
    const job = await taskset.run(adder(), { runtime: makeRuntime(), threads: 0, group: 2 })
    assert.equal(
      job.runs.map(run => run.reward),
      Array(8).fill(1),
    )
    await job.close()
    const refused = await taskset.run(adder(), { runtime: makeRuntime(), threads: 1 }).catch(error => error)
    assert.ok(hasTag(refused, 'closure-agent'), String(refused))
    assert.equal(scene.leftovers(), [])
  }))

test('two engines live in one process at once, each with its own journal', () =>
  withScene(async scene => {
    const jobs = await Promise.all(
      ['one', 'two'].map(name =>
        taskset.run(adder(), {
          runtime: makeRuntime(),
          threads: 0,
          group: 2,
          journal: join(scene.directory, name),
        }),
      ),
    )
    for (const job of jobs) {
      assert.is(job.snapshot().graded, 8)
      assert.ok(job.runs.every(run => run.jobId === job.jobId))
      await job.close()
    }
    assert.is.not(jobs[0]?.jobId, jobs[1]?.jobId)
    assert.equal(scene.leftovers(), [])
  }))

test('an AbortSignal ends a run in order and tells what is kept', () =>
  withScene(async scene => {
    const controller = new AbortController()
    const stream = taskset.stream(adder(onlyFirst(1)), {
      runtime: makeRuntime(),
      threads: 0,
      signal: controller.signal,
    })
    const seen: string[] = []
    const error = await (async () => {
      for await (const group of stream) {
        seen.push(group.groupId)
        controller.abort()
      }
    })().catch((thrown: unknown) => thrown)
    assert.ok(hasTag(error, 'run-cancelled'), String(error))
    assert.match(String(error), /1 finished rollouts are kept, 3 are still to be done/)
    assert.is(seen.length, 1)
    assert.equal(scene.leftovers(), [])
  }))

test('leaving the loop ends the run, and `await using` closes the rest', () =>
  withScene(async scene => {
    {
      await using job = await Job.start('leaving', { runtime: makeRuntime(), threads: 0 })
      for await (const group of job.stream(taskset, adder(onlyFirst(1)))) {
        assert.is(group.runs.length, 1)
        break
      }
    }
    assert.equal(scene.leftovers(), [])
  }))

test('chunks of a stream hold whole groups only', () =>
  withScene(async scene => {
    const chunks: Chunk[] = []
    await new Promise<void>((resolve, reject) => {
      taskset
        .stream(adder(), { runtime: makeRuntime(), threads: 0, group: 3 })
        .pipe(chunkGroups({ maxTrajectories: 7 }))
        .subscribe({ next: chunk => chunks.push(chunk), error: reject, complete: resolve })
    })
    assert.equal(
      chunks.map(chunk => chunk.runs.length),
      [6, 6],
    )
    for (const { groups, runs } of chunks)
      for (const { groupId } of groups) assert.is(runs.filter(run => run.groupId === groupId).length, 3)
    assert.equal(scene.leftovers(), [])
  }))

test("a taskset's own environment is not served where its job has a runtime", () =>
  withScene(async scene => {
    const local = makeRuntime()
    let provided = 0
    const runtime: Runtime = {
      name: 'elsewhere',
      preflight: () => local.preflight(),
      provision(request) {
        provided += 1
        return local.provision(request)
      },
      close: () => local.close(),
    }
    await using job = await Job.start('elsewhere', { runtime, threads: 0 })
    assert.ok(taskset.environment)
    await taskset.run(adder(), { job })
    for await (const _ of taskset.stream(adder(), { job }));
    assert.is(provided, 8)
    await job.close()
    assert.equal(scene.leftovers(), [])
  }))

test('a pool bigger than the job never makes more sandboxes than there are rollouts to come', () =>
  withScene(async scene => {
    const local = makeRuntime()
    const asked: ProvisionRequest[] = []
    const runtime: Runtime = {
      name: 'counted',
      preflight: () => local.preflight(),
      provision(request) {
        asked.push(request)
        return local.provision(request)
      },
      close: () => local.close(),
    }
    const pool = { strategy: 'prewarm', size: 50 } as const
    const job = await taskset.run(adder(), { runtime, threads: 0, pool, maxConcurrent: 1 })
    assert.is(job.snapshot().graded, 4)
    assert.is(asked.length, 4)
    await job.close()
    assert.equal(scene.leftovers(), [])
  }))

test.run()

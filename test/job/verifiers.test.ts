import * as assert from 'uvu/assert'
import type { Agent } from '../../src/agents/agent.ts'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Environment } from '../../src/environment/environment.ts'
import { hasTag } from '../../src/errors.ts'
import { PLANNED_GROUPS } from '../../src/job/find-unfinished.ts'
import { Job } from '../../src/job/job.ts'
import { packTrajectory, unpackTrajectory } from '../../src/rollout/pack.ts'
import { RoutedRuntime } from '../../src/runtimes/routed.ts'
import type { Runtime } from '../../src/runtimes/runtime.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { InProcessRuntime } from '../../src/testing/index.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('job: verifier tasks')

/** Says what it was asked, and keeps count of its sessions. */
function makeEnvironments() {
  const open = { work: 0, check: 0, most: 0 }
  const count = (environment: Environment, name: 'work' | 'check') => {
    environment.onSessionStart(() => {
      open[name] += 1
      open.most = Math.max(open.most, open.work + open.check)
    })
    environment.onTeardown((_, reason) => {
      if (reason === 'closed') open[name] -= 1
    })
  }
  const work = new Environment('work', { workspace: { isolation: 'none' } })
  count(work, 'work')
  work.template('write', {}, async function* (_, { workspace }) {
    yield 'write 42 into answer.txt'
    yield { score: 0.5, content: await workspace.read('answer.txt') }
  })
  work.template('check', {}, async function* (_, { workspace }) {
    const given = yield ''
    const { score, answer } = Object(given)
    const file = await workspace.read('answer.txt')
    yield { score: file.trim() === '42' && score === 0.5 ? 1 : 0, info: { answer } }
  })
  const check = new Environment('check')
  count(check, 'check')
  check.template('judge', {}, async function* () {
    const { content, answer } = Object(yield '')
    yield { score: String(content).trim() === '42' && answer === 'done' ? 0.9 : 0.1 }
  })
  check.template('broken', {}, async function* () {
    yield ''
    throw new Error('the verifier has no tests')
  })
  return { open, work, check }
}

const writes: Agent = {
  name: 'writes',
  async run({ shell }) {
    await (await shell()).exec('echo 42 > answer.txt')
    return { answer: 'done', stop: 'done' }
  },
}

function rows(count: number, verifier: { readonly env: string; readonly id: string }) {
  return Array.from({ length: count }, (_, index) => ({ env: 'work', id: 'write', slug: `write-${index}`, verifier }))
}

const route = (work: Environment, check: Environment) =>
  new RoutedRuntime({ work: new InProcessRuntime(work), check: new InProcessRuntime(check) })

test('a verifier of the same environment sees the workspace that the agent left, and its grade is the run’s', async () => {
  const { open, work } = makeEnvironments()
  const taskset = new Taskset('same', rows(2, { env: 'work', id: 'check' }))
  const job = await taskset.run(createAgent(writes), { runtime: new InProcessRuntime(work), threads: 0 })
  assert.equal(
    job.runs.map(({ outcome, reward }) => [outcome, reward]),
    [
      ['graded', 1],
      ['graded', 1],
    ],
  )
  const { grade, actorGrade, answer } = job.runs[0]?.trajectory ?? {}
  assert.equal([grade?.info, actorGrade?.score, answer], [{ answer: 'done' }, 0.5, 'done'])
  await job.close()
  assert.is(open.work, 0)
})

test('as many runs as there may be sandboxes cannot wait for each other, however few those are', async () => {
  for (const cap of [1, 3]) {
    const { open, work, check } = makeEnvironments()
    const taskset = new Taskset('elsewhere', rows(6, { env: 'check', id: 'judge' }))
    const job = await taskset.run(createAgent(writes), {
      runtime: route(work, check),
      threads: 0,
      group: 2,
      maxConcurrent: 12,
      pool: { strategy: 'cold', size: 0, maxSandboxes: cap },
    })
    assert.equal(
      job.runs.map(({ outcome, reward }) => [outcome, reward]),
      Array(12).fill(['graded', 0.9]),
    )
    await job.close()
    assert.equal([open.work, open.check], [0, 0])
    assert.ok(open.most <= cap, `${open.most} sandboxes at once`)
  }
})

test('a verifier that throws leaves its run without a reward, and a group without one is no group', async () => {
  const { open, work, check } = makeEnvironments()
  const taskset = new Taskset('broken', rows(1, { env: 'check', id: 'broken' }))
  const job = await taskset.run(createAgent(writes), { runtime: route(work, check), threads: 0 })
  const [run] = job.runs
  assert.equal([run?.outcome, run?.reward, run?.failedPhase], ['environment-error', null, 'verifying'])
  assert.match(run?.error?.message ?? '', /no tests/)
  assert.is(run?.trajectory.actorGrade?.score, 0.5)
  assert.is(job.groups[0]?.end.type, 'dropped')
  await job.close()
  assert.equal([open.work, open.check], [0, 0])
})

test('what is wrong with a verifier is told before anything runs, by the slug of its row', async () => {
  const { work, check } = makeEnvironments()
  const cases: readonly [{ env: string; id: string }, Runtime, RegExp][] = [
    [{ env: 'work', id: 'chek' }, new InProcessRuntime(work), /write-0, its verifier: .*"chek"/],
    [{ env: 'check', id: 'judge' }, new InProcessRuntime(work), /write-0, its verifier: belongs to .* "check"/],
    [
      { env: 'chess', id: 'judge' },
      route(work, check),
      /write-0, its verifier: no runtime is routed .* "chess".* work, check/,
    ],
  ]
  for (const [verifier, runtime, words] of cases) {
    const taskset = new Taskset('bad', rows(1, verifier))
    const error: unknown = await taskset
      .run(createAgent(writes), { runtime, threads: 0 })
      .catch((thrown: unknown) => thrown)
    assert.ok(hasTag(error, 'bad-tasks'), String(error))
    assert.match(String(error), words)
  }
})

test('a cancelled run with verifiers leaves no session behind, and goes on where it was', () =>
  withFiles({}, async journal => {
    const { open, work, check } = makeEnvironments()
    const taskset = new Taskset('again', rows(4, { env: 'check', id: 'judge' }))
    const leaving = new AbortController()
    let begun = 0
    const some: Agent = {
      name: 'writes',
      run(context) {
        begun += 1
        if (begun > 2) leaving.abort()
        return begun > 2 ? new Promise(() => {}) : writes.run(context)
      },
    }
    const settings = { [PLANNED_GROUPS]: 4 }
    const options = { threads: 0, seed: 1, maxConcurrent: 1, journal, settings, resume: true }
    const first = await Job.start('again', { ...options, runtime: route(work, check) })
    const cut: unknown = await taskset
      .run(createAgent(some), { job: first, step: 0, signal: leaving.signal })
      .catch((error: unknown) => error)
    assert.ok(hasTag(cut, 'run-cancelled'), String(cut))
    await first.close()
    assert.equal([open.work, open.check], [0, 0])
    const second = await Job.start('again', { ...options, runtime: route(work, check) })
    await taskset.run(createAgent(writes), { job: second, step: 0 })
    assert.is(second.resumed, true)
    assert.equal(
      second.runs.map(({ reward }) => reward),
      [0.9, 0.9, 0.9, 0.9],
    )
    // Recalled runs have both grades, too.
    for (const { trajectory } of second.runs) assert.is(trajectory.actorGrade?.score, 0.5)
    await second.close()
  }))

test('a packed trajectory without a verifier has no second grade at all', () => {
  const plain = { prompt: 'p', turns: [], answer: 'a', grade: { score: 1 } }
  assert.equal(unpackTrajectory(packTrajectory(plain)), plain)
  for (const actorGrade of [null, { score: 0.5 }])
    assert.equal(unpackTrajectory(packTrajectory({ ...plain, actorGrade })), { ...plain, actorGrade })
})

test.run()

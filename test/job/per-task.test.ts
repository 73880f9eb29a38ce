import * as assert from 'uvu/assert'
import type { Agent } from '../../src/agents/agent.ts'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Environment } from '../../src/environment/environment.ts'
import { z } from '../../src/environment/index.ts'
import { hasTag } from '../../src/errors.ts'
import { Job } from '../../src/job/job.ts'
import type { RunOptions } from '../../src/job/options.ts'
import { RoutedRuntime } from '../../src/runtimes/routed.ts'
import { SharedRuntime } from '../../src/runtimes/shared.ts'
import type { TaskRow } from '../../src/taskset/parse-task-rows.ts'
import type { Task } from '../../src/taskset/task.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { InProcessRuntime } from '../../src/testing/index.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { suite } from '../support/suite.ts'

const test = suite('job: what each task asks for')

/** Grades an answer that is its own name. */
function named(name: string): Environment {
  const env = new Environment(name)
  env.template('say', { args: z.object({ word: z.string().default('') }) }, async function* ({ word }) {
    yield (yield `say ${name}${word}`) === `${name}${word}` ? 1 : 0
  })
  return env
}

const echo: Agent = {
  name: 'echo',
  run: async ({ prompt }) => ({ answer: String(prompt).replace('say ', ''), stop: 'done' }),
}

const row = (env: string, word = ''): TaskRow => ({ env, id: 'say', args: { word }, slug: `${env}-${word}` })

async function refusal(rows: readonly TaskRow[], options: RunOptions, agent = createAgent(echo)): Promise<string> {
  const thrown: unknown = await new Taskset('bad', rows)
    .run(agent, { threads: 0, ...options })
    .catch((error: unknown) => error)
  assert.ok(hasTag(thrown, 'bad-tasks'), String(thrown))
  return String(thrown)
}

test('one job runs tasks of several environments, each where its route leads, prewarmed or not', async () => {
  for (const otherwise of [false, true]) {
    const [one, two] = [new InProcessRuntime(named('one')), new InProcessRuntime(named('two'))]
    const runtime = otherwise ? new RoutedRuntime({ two }, { otherwise: one }) : new RoutedRuntime({ one, two })
    const rows = ['a', 'b', 'c'].flatMap(word => [row('one', word), row('two', word)])
    const job = await new Taskset('mixed', rows).run(createAgent(echo), {
      runtime,
      threads: 0,
      group: 2,
      seed: 1,
      ...(otherwise ? { pool: { strategy: 'prewarm' as const, size: 2 } } : {}),
    })
    assert.equal(
      job.runs.map(({ reward }) => reward),
      Array(12).fill(1),
    )
    const kinds = new Set(job.runs.filter(({ task }) => task.env === 'two').map(({ lease }) => lease))
    assert.equal([...kinds], ['cold'])
    await job.close()
  }
})

test('several environments may share a substrate each', async () => {
  const routed = new RoutedRuntime({ one: new InProcessRuntime(named('one')), two: new InProcessRuntime(named('two')) })
  const job = await new Taskset('mixed', [row('one'), row('two')]).run(createAgent(echo), {
    runtime: new SharedRuntime(routed, 2),
    threads: 0,
    group: 4,
  })
  assert.equal(
    job.runs.map(({ reward }) => reward),
    Array(8).fill(1),
  )
  await job.close()
})

test('a routed runtime without one for everything else makes nothing ahead, and says so', async () => {
  const runtime = new RoutedRuntime({ one: new InProcessRuntime(named('one')) })
  const thrown: unknown = await new Taskset('x', [row('one')])
    .run(createAgent(echo), { runtime, threads: 0, pool: { strategy: 'prewarm', size: 2 } })
    .catch((error: unknown) => error)
  assert.ok(hasTag(thrown, 'bad-option'), String(thrown))
  assert.match(String(thrown), /pool\.strategy is prewarm, but the routed runtime makes each sandbox for its task/)
  await runtime.close()
})

test('a runtime_config is refused by runtimes that cannot apply it, with those that can, before anything is started', async () => {
  const runtime = new FakeRuntime()
  const words = await refusal(
    [
      { ...row('one'), runtime_config: { image: 'x', resources: { cpu: 2 } } },
      { ...row('one', 'b'), runtime_config: {} },
    ],
    { runtime },
  )
  assert.match(
    words,
    /one-: runtime_config\.image, runtime_config\.resources: the fake runtime .* docker or the daytona/,
  )
  assert.not.match(words, 'one-b')
  assert.equal([runtime.plans, runtime.requests], [[], []])
})

/** Applies whatever it is asked. */
function able(): FakeRuntime {
  return Object.assign(new FakeRuntime(), {
    configure: (task: Task) => ({ config: task.runtime_config ?? {}, problems: [] }),
    kindOf: (task: Task) => task.runtime_config?.image,
  })
}

test('limits that contradict each other or the run’s deadlines are told by row, before anything is started', async () => {
  const limits = (startup?: number, run?: number) => ({
    runtime_config: {
      limits: {
        ...(startup === undefined ? {} : { startup_timeout_s: startup }),
        ...(run === undefined ? {} : { run_timeout_s: run }),
      },
    },
  })
  const cases: readonly [Partial<TaskRow>, RunOptions['deadlines'], RegExp | undefined][] = [
    [
      { agent_config: { timeout_seconds: 60 }, ...limits(undefined, 60) },
      {},
      /timeout_seconds \(60 s\).*run_timeout_s \(60 s\)/,
    ],
    [{ agent_config: { timeout_seconds: 59 }, ...limits(undefined, 60) }, {}, undefined],
    [limits(undefined, 60), { agent: 90_000 }, /deadlines\.agent \(90 s\) must be less than .*run_timeout_s/],
    [
      limits(undefined, 600),
      { rollout: 300_000 },
      /run_timeout_s \(600 s\) must be less than deadlines\.rollout \(300 s\)/,
    ],
    [limits(900), {}, /startup_timeout_s \(900 s\) must be less than deadlines\.provisioning \(600 s\)/],
    [limits(900), { provisioning: 1_000_000 }, undefined],
    [
      { agent_config: { timeout_seconds: 7_200 } },
      {},
      /timeout_seconds \(7200 s\) must be less than deadlines\.rollout/,
    ],
    [
      { verifier: { env: 'one', id: 'say', ...limits(undefined, 600) } },
      { rollout: 300_000 },
      /one-: verifier\.runtime_config\.limits\.run_timeout_s/,
    ],
  ]
  for (const [more, deadlines = {}, words] of cases) {
    const runtime = able()
    runtime.preflight = async () => {
      throw new Error('it got as far as the runtime')
    }
    const thrown: unknown = await new Taskset('x', [{ ...row('one'), ...more }])
      .run(createAgent(echo), { runtime, threads: 0, deadlines })
      .catch((error: unknown) => error)
    assert.match(String(thrown), words ?? /got as far as the runtime/)
  }
})

test('what a row tells its agent is checked with the agent, before anything is started, and then given to it', async () => {
  const scripted = createAgent('scripted', { answer: 'one' })
  const runtime = () => new InProcessRuntime(named('one'))
  const bad = { ...row('one'), agent_config: { max_steps: 3 } }
  assert.match(await refusal([bad], { runtime: runtime() }, scripted), /one-: agent_config: .*maxSteps/)
  const rows = [row('one'), { ...row('one', '!'), agent_config: { answer: 'one!' } }]
  const job = await new Taskset('own', rows).run(scripted, { runtime: runtime(), threads: 1 })
  assert.equal(
    job.runs.map(({ reward }) => reward),
    [1, 1],
  )
  await job.close()
})

test('a row’s limit on its agent’s time is that row’s alone', async () => {
  const slow: Agent = {
    name: 'slow',
    run: context =>
      String(context.prompt).endsWith('!')
        ? new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)))
        : echo.run(context),
  }
  const rows = [row('one'), { ...row('one', '!'), agent_config: { timeout_seconds: 0.05 } }]
  const job = await new Taskset('own', rows).run(createAgent(slow), {
    runtime: new InProcessRuntime(named('one')),
    threads: 0,
  })
  const ends = new Map(job.runs.map(({ task, stopReason, reward }) => [task.slug, [stopReason, reward]]))
  assert.equal(
    [ends.get('one-'), ends.get('one-!')],
    [
      ['done', 1],
      ['deadline', 0],
    ],
  )
  await job.close()
})

test('a step that is run again asks of each row what it asked before', async () => {
  await using job = await Job.start('twice', { runtime: new InProcessRuntime(named('one')), threads: 0, seed: 1 })
  const taskset = new Taskset('own', [{ ...row('one', '!'), agent_config: { answer: 'one!' } }])
  const scripted = createAgent('scripted', { answer: 'one' })
  for (const step of [0, 0, 1]) await taskset.run(scripted, { job, step })
  assert.ok(job.runs.every(({ reward }) => reward === 1))
})

test.run()

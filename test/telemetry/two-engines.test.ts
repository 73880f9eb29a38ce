import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgent } from '../../src/agents/create-agent.ts'
import { hasTag } from '../../src/errors.ts'
import { Job } from '../../src/job/job.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { Taskset } from '../../src/taskset/taskset.ts'
import { repository, withScene } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { type Heard, listening } from './scene.ts'

const test = suite('two engines in one process')
const arith = (name: string) => join(repository, 'environments/arith', name)
const taskset = (await Taskset.load(arith('tasks.ts'))).select(['0-7'])

/** Adds the numbers of its prompt, once it is let. */
const adder = (gate: (signal: AbortSignal) => Promise<unknown>) =>
  createAgent({
    name: 'adder',
    async run({ prompt, signal }) {
      await gate(signal)
      const [a = 0, b = 0] = (String(prompt).match(/\d+/g) ?? []).map(Number)
      return { answer: String(a + b), stop: 'done' }
    },
  })

const untilAborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

const start = (name: string) =>
  Job.start(name, { runtime: new LocalRuntime(arith('env.ts')), threads: 0, maxConcurrent: 8 })

test('one is cancelled in the middle of its rollouts, and the other grades all of its own', () =>
  withScene(scene =>
    quietly(() =>
      listening(async heard => {
        const whole = await start('whole')
        const stopped = await start('stopped')
        // The one that is to be cancelled has rollouts under way; those of the other wait until it has been.
        const leaving = new AbortController()
        let begun = () => {}
        const underWay = new Promise<void>(resolve => {
          begun = resolve
        })
        const cancelled = taskset
          .run(
            adder(signal => {
              begun()
              return untilAborted(signal)
            }),
            { job: stopped, group: 4, signal: leaving.signal },
          )
          .catch((error: unknown) => error)
        const running = taskset.run(
          adder(() => cancelled),
          { job: whole, group: 4 },
        )
        await underWay
        leaving.abort()
        assert.ok(hasTag(await cancelled, 'run-cancelled'))
        await running
        assert.is(whole.snapshot().graded, 32)
        assert.is(whole.snapshot().rewardSum, 32)
        assert.is(stopped.snapshot().graded, 0)
        await stopped.close()
        assert.is(whole.jobId === stopped.jobId, false)
        await whole.close()
        assertToldApart(heard, whole, stopped)
        assert.equal(scene.leftovers(), [])
      }),
    ),
  ))

/** Each message names the job that it is about, and there is one for each that the job counted. */
function assertToldApart({ runs, groups, engines, errors }: Heard, whole: Job, stopped: Job): void {
  const of = <Message extends { readonly jobId: string }>(messages: readonly Message[], { jobId }: Job) =>
    messages.filter(message => message.jobId === jobId)
  assert.is(of(runs, whole).length, 32)
  assert.is(of(groups, whole).length, 8)
  assert.is(new Set(of(runs, whole).map(({ runId }) => runId)).size, 32)
  assert.equal(
    of(runs, stopped).filter(({ outcome }) => outcome !== 'cancelled'),
    [],
  )
  for (const job of [whole, stopped])
    assert.equal(
      of(engines, job).map(({ type }) => type),
      ['started', 'closed'],
    )
  assert.is(engines.length, 4)
  assert.equal(
    errors.filter(({ error }) => error.details?.jobId === whole.jobId),
    [],
  )
}

/** Nothing is printed, no handler is left and no global made while `body` runs. */
async function quietly(body: () => Promise<void>): Promise<void> {
  const globals = Reflect.ownKeys(globalThis).length
  const events = () => process.eventNames().map(name => [String(name), process.listenerCount(name)] as const)
  const before = new Map(events())
  const printed: unknown[] = []
  const streams = [process.stdout, process.stderr]
  const writes = streams.map(stream => stream.write)
  for (const stream of streams) stream.write = (chunk: unknown) => printed.push(chunk) > 0
  try {
    await body()
  } finally {
    for (const [place, stream] of streams.entries()) stream.write = writes[place] ?? stream.write
  }
  assert.equal(printed, [])
  assert.is(Reflect.ownKeys(globalThis).length, globals)
  assert.equal(
    events().filter(([name, count]) => count > (before.get(name) ?? 0)),
    [],
  )
}

test.run()

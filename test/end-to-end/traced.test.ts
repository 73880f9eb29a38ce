/** `--traces` as a user has it: a real command, its threads and its environment host, and a receiver of OTLP over HTTP in the test. */
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { faultsOf, type ReceivedSpan, startTracesReceiver, type TracesReceiver } from '../support/traces-receiver.ts'
import { NOTE_COUNT } from './notes.ts'
import { repository, until, withScene } from './scene.ts'

const test = suite('traced from end to end')
const SLOW = { deadlineMs: 90_000 }

async function withReceiver(body: (receiver: TracesReceiver) => Promise<void>): Promise<void> {
  const receiver = await startTracesReceiver()
  try {
    await body(receiver)
  } finally {
    await receiver.close()
  }
}

const rootOf = (trace: readonly ReceivedSpan[]) => trace.find(({ parentSpanId }) => parentSpanId === undefined)

const PHASES = ['provisioning', 'connecting', 'starting', 'agent', 'grading', 'cleanup']

/** Names of the spans right below one, in the order of their times, and what they belong to. */
function below(trace: readonly ReceivedSpan[], parent: ReceivedSpan | undefined): readonly ReceivedSpan[] {
  return trace
    .filter(({ parentSpanId }) => parentSpanId !== undefined && parentSpanId === parent?.spanId)
    .sort((left, right) => left.startMs - right.startMs)
}

/** One trace, whole: a rollout, its phases that add up to it, and in them what its thread and its environment server did. */
function checkRollout(trace: readonly ReceivedSpan[]): ReceivedSpan {
  assert.equal(faultsOf(trace), [])
  const [root] = trace.filter(({ parentSpanId }) => parentSpanId === undefined)
  if (root === undefined) throw new Error('a trace without a beginning')
  const phases = below(trace, root)
  assert.equal(
    phases.map(({ attributes }) => attributes['troupe.phase']),
    PHASES,
  )
  const wholeMs = root.endMs - root.startMs
  const sumMs = phases.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  // Between phases a rollout only goes from one to the next; on a machine that is busy others run meanwhile. test/rollout/laps.test.ts has it to the millisecond.
  assert.ok(sumMs <= wholeMs + 0.1 && wholeMs - sumMs < 0.1 * wholeMs + 300, `${sumMs} ms of ${wholeMs} ms`)
  const served = (phase: string) =>
    below(trace, phases[PHASES.indexOf(phase)]).filter(({ service }) => service === 'troupe-environment')
  assert.equal(
    PHASES.map(phase =>
      served(phase)
        .map(({ name }) => name)
        .filter(name => name !== 'exec'),
    ),
    [[], ['hello'], ['tasks.start'], [], ['tasks.grade'], ['bye']],
  )
  assert.ok(served('agent').length > 0, 'commands of the agent')
  for (const { name, kind, service } of trace)
    if (service === 'troupe-environment') assert.is(kind, 2, `${name} is a server’s`)
  return root
}

test(
  'each rollout of an evaluation is one trace, over threads and the environment’s process, and nothing is left',
  () =>
    withScene(scene =>
      withReceiver(async receiver => {
        const calc = join(repository, 'environments/calc')
        const argv = ['eval', calc, join(calc, 'repairer.ts'), '--task-ids', '0-1', '--group', '2', '--seed', '1']
        const more = ['--threads', '2', '--no-journal', '--json', '--traces', receiver.url]
        const { exit, stdout, stderr } = await scene.run([...argv, ...more])
        assert.is(exit, 0, stderr)
        assert.is(resultOf(stdout).runs.graded, 4)
        assert.not.match(stderr, /not sent/)
        const traces = [...receiver.traces().values()]
        assert.is(traces.length, 4, 'one for each rollout, and no other')
        const roots = traces.map(checkRollout)
        assert.is(new Set(roots.map(({ attributes }) => attributes['troupe.run.id'])).size, 4)
        for (const { name, attributes, status } of roots) {
          assert.is(name, 'rollout fix_calc')
          assert.equal([attributes['troupe.environment'], attributes['troupe.outcome']], ['calc', 'graded'])
          assert.equal([status.code ?? 0, attributes['gen_ai.agent.name']], [0, 'repairer'])
        }
        const tools = receiver.spans.filter(({ name }) => name === 'execute_tool bash')
        assert.ok(tools.length >= 4 * 2)
        await receiver.left()
        assert.equal(scene.leftovers(), [])
      }),
    ),
  SLOW,
)

test(
  'without threads it is the same, and a share of the rollouts is drawn, each whole',
  () =>
    withScene(scene =>
      withReceiver(async receiver => {
        const share = ['--traces', receiver.url, '--traces-share', '0.5']
        const argv = scene.notes({}, '--group', '6', '--threads', '0', '--no-journal', ...share)
        const { exit, stdout, stderr } = await scene.run(argv)
        assert.is(exit, 0, stderr)
        assert.is(resultOf(stdout).runs.graded, 6 * NOTE_COUNT)
        const traces = [...receiver.traces().values()]
        // All of them, or none, in one of a hundred thousand runs of this test.
        assert.ok(traces.length > 0 && traces.length < 6 * NOTE_COUNT, String(traces.length))
        for (const trace of traces) checkRollout(trace)
        assert.equal(scene.leftovers(), [])
      }),
    ),
  SLOW,
)

test(
  'a rollout that fails says so, in its own span and in that of its phase, and no span holds a secret',
  () =>
    withScene(scene =>
      withReceiver(async receiver => {
        const secret = 'planted-key-of-the-traced-run'
        const tasks = `
import { note } from './env.ts'
export default [0, 1, 2].map(n => ({ ...note({ n }), slug: process.env.SOME_API_KEY + '-' + n }))
`
        await writeFile(join(scene.directory, 'tasks.ts'), tasks)
        // The second note's agent waits for a file that never comes, until its time is over.
        const argv = scene.notes({ hold: [1] }, '--deadline', 'agent=2', '--traces', receiver.url)
        const { stdout, stderr } = await scene.run(argv, { SOME_API_KEY: secret })
        assert.is(resultOf(stdout).runs.planned, NOTE_COUNT, stderr)
        const traces = [...receiver.traces().values()]
        const roots = traces.map(checkRollout)
        const outcomes = roots.map(({ attributes, status }) => [attributes['troupe.outcome'], status.code ?? 0]).sort()
        assert.equal(outcomes, [
          ['agent-error', 2],
          ['graded', 0],
          ['graded', 0],
        ])
        const failed = traces.find(trace =>
          trace.some(({ attributes }) => attributes['troupe.outcome'] === 'agent-error'),
        )
        const errors = (failed ?? []).filter(({ status, service }) => status.code === 2 && service === 'troupe')
        assert.equal(errors.map(({ name, attributes }) => [name, attributes['error.type']]).sort(), [
          ['invoke_agent noter', 'phase-deadline'],
          ['rollout note', 'phase-deadline'],
        ])
        assert.ok(roots.every(({ attributes }) => String(attributes['troupe.task']).startsWith('[hidden]-')))
        assert.not.match(receiver.bodies.join(), secret)
        assert.equal(scene.leftovers(), [])
      }),
    ),
  SLOW,
)

test(
  'a receiver that is not there costs no rollout, and is told of once',
  () =>
    withScene(async scene => {
      const spare = createServer()
      await new Promise<void>(resolve => spare.listen(0, '127.0.0.1', resolve))
      const bound = spare.address()
      const port = typeof bound === 'object' && bound !== null ? bound.port : 0
      await new Promise(resolve => spare.close(resolve))
      const gone = `http://127.0.0.1:${port}`
      const { exit, stdout, stderr } = await scene.run(scene.notes({}, '--no-journal', '--traces', gone))
      assert.is(exit, 0, stderr)
      assert.is(resultOf(stdout).runs.graded, NOTE_COUNT)
      assert.is(stderr.match(/traces could not be sent to/g)?.length, 1, stderr)
      assert.match(stderr, new RegExp(`${gone}/v1/traces: \\d+ spans were not sent`))
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test('what is no receiver is refused before anything begins', () =>
  withScene(async scene => {
    for (const [options, said] of [
      [['--traces', 'here'], 'it is no URL'],
      [['--traces', 'http://a:b@localhost:4318'], 'OTEL_EXPORTER_OTLP_HEADERS'],
      [['--traces-share', '0.5'], '--traces is missing'],
    ] as const) {
      const { exit, stderr } = await scene.run(scene.notes({}, ...options))
      assert.is(exit, 2, stderr)
      assert.ok(stderr.includes(said), stderr)
    }
    assert.equal(scene.starts(), [])
    assert.equal(scene.leftovers(), [])
  }))

test(
  'a training’s steps and evaluations are traces, and their rollouts have a link to them',
  () =>
    withScene(scene =>
      withReceiver(async receiver => {
        const arith = join(repository, 'environments/arith')
        const tasks = ['--task-ids', '0-3', '--held-out', '4-5', '--eval-group', '2']
        const argv = ['train', arith, '--steps', '1', '--group', '4', '--seed', '1', ...tasks]
        const { exit, stderr } = await scene.run([...argv, '--threads', '1', '--traces', receiver.url])
        assert.is(exit, 0, stderr)
        const traces = [...receiver.traces().values()]
        const named = (name: string) => traces.filter(trace => rootOf(trace)?.name.startsWith(name))
        const [step, ...others] = named('training step')
        // Before the step and after it, each with two attempts at two tasks.
        const evaluations = named('evaluation')
        assert.equal([others.length, evaluations.length, named('rollout').length, traces.length], [0, 2, 24, 27])
        assert.equal(faultsOf(step ?? []), [])
        const names = (step ?? []).map(({ name }) => name)
        assert.ok(names.includes('train chunk') && names.includes('optimiser step'), names.join(', '))
        const linked = new Map<string, number>()
        for (const trace of named('rollout')) {
          assert.equal(faultsOf(trace), [])
          const [link, ...more] = rootOf(trace)?.links ?? []
          assert.is(more.length, 0)
          const place = `${link?.traceId} ${link?.spanId}`
          linked.set(place, (linked.get(place) ?? 0) + 1)
          // The embedded policy was asked.
          assert.ok(trace.some(({ attributes }) => Number(attributes['gen_ai.usage.output_tokens']) > 0))
        }
        const placeOf = (trace: readonly ReceivedSpan[]) => `${rootOf(trace)?.traceId} ${rootOf(trace)?.spanId}`
        assert.is(linked.get(placeOf(step ?? [])), 16)
        for (const evaluation of evaluations) {
          assert.is(linked.get(placeOf(evaluation)), 4)
          const { attributes, status } = rootOf(evaluation) ?? {}
          assert.equal(
            [
              attributes?.['troupe.evaluation.split'],
              Number(attributes?.['troupe.evaluation.runs']),
              status?.code ?? 0,
            ],
            ['held-out', 4, 0],
          )
        }
        assert.equal(scene.leftovers(), [])
      }),
    ),
  SLOW,
)

test(
  'an environment that is served by itself draws for who tells it what its requests belong to',
  () =>
    withScene(scene =>
      withReceiver(async receiver => {
        const served = scene.start(['serve', 'env.ts', '--port', '0', '--traces', receiver.url])
        const port = () => /^HUD_SERVE_PORT=(\d+)$/m.exec(served.stdout())?.[1]
        await until(() => port() !== undefined, served.stderr)
        const url = ['--url', `127.0.0.1:${port()}`]
        const untraced = await scene.run(scene.notes({}, ...url, '--no-journal'))
        assert.is(untraced.exit, 0, untraced.stderr)
        const traced = await scene.run(scene.notes({}, ...url, '--no-journal', '--traces', receiver.url))
        assert.is(traced.exit, 0, traced.stderr)
        served.child.kill('SIGTERM')
        assert.is(await served.ended, 0, served.stderr())
        const traces = [...receiver.traces().values()]
        assert.is(traces.length, NOTE_COUNT, 'of the second evaluation alone')
        for (const trace of traces) checkRollout(trace)
      }),
    ),
  SLOW,
)

test.run()

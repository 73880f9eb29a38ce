/** `--traces` with `--cluster`: the spans of one machine, from workers and their environments, to a receiver of OTLP over HTTP in the test. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { connectNats } from '../../src/cluster/connect.ts'
import { STREAMS } from '../../src/cluster/names.ts'
import { parsePlan, parseResults } from '../../src/cluster/wire.ts'
import type { RunId } from '../../src/ids.ts'
import { isDrawn, runTrace } from '../../src/telemetry/traces/trace-ids.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { faultsOf, type ReceivedSpan, startTracesReceiver, type TracesReceiver } from '../support/traces-receiver.ts'
import { drain, evalNotes, startWorker, startWorkerWith, withCluster } from './support/workers.ts'

const test = suite('traced on workers')
/** Processes of their own, some of which wait for each other: on a busy machine that takes its time. */
const SLOW = { deadlineMs: 120_000 }

async function withReceiver(body: (receiver: TracesReceiver) => Promise<void>): Promise<void> {
  const receiver = await startTracesReceiver()
  try {
    await body(receiver)
  } finally {
    await receiver.close()
  }
}

const rootOf = (trace: readonly ReceivedSpan[]) => trace.find(({ parentSpanId }) => parentSpanId === undefined)

/** Each trace by its place in the plan: its spans by name, with whose they are, what is above them and what they say, without ids and times. */
function shapesOf(receiver: TracesReceiver): Readonly<Record<string, readonly string[]>> {
  const shapes: Record<string, readonly string[]> = {}
  for (const trace of receiver.traces().values()) {
    assert.equal(faultsOf(trace), [])
    const names = new Map(trace.map(({ spanId, name }) => [spanId, name]))
    const root = rootOf(trace)
    const place = `${root?.attributes['troupe.task']} ${root?.attributes['troupe.member']}`
    assert.not.ok(place in shapes, `${place} is there twice`)
    shapes[place] = trace
      .map(({ service, name, kind, parentSpanId, status, attributes }) => {
        const said = Object.keys(attributes).filter(key => key !== 'troupe.worker')
        const above = parentSpanId === undefined ? 'nothing' : names.get(parentSpanId)
        return `${service} ${name} below ${above}: ${kind} ${status.code ?? 0} ${said.sort().join(' ')}`
      })
      .sort()
  }
  return shapes
}

/** Types of an event file's lines, each with the names of its fields. Without the pool's figures, which go by the clock, and what a busy machine makes of servers and workers. */
async function eventsOf(path: string): Promise<readonly string[]> {
  const lines = (await readFile(path, 'utf8')).trim().split('\n')
  const events = lines.map((line): Record<string, unknown> => JSON.parse(line))
  const others = events.filter(({ type, kind }) => type !== 'pool' && kind !== 'cluster')
  return others.map(event => `${event.type}: ${Object.keys(event).sort()}`)
}

test(
  'traces, events and what an environment draws are those of one machine; a worker sends with its own key',
  () =>
    withCluster((scene, url) =>
      withReceiver(async receiver => {
        await withReceiver(async other => {
          const argv = [...evalNotes(scene, {}, '--group', '2'), '--no-journal']
          const events = (name: string) => ['--events', join(scene.directory, name)]
          const alone = await scene.run([...argv, '--traces', other.url, ...events('alone')])
          assert.is(alone.exit, 0, alone.stderr)
          const worker = await startWorkerWith(scene, url, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of-the-worker' })
          const more = ['--cluster', url, '--traces', receiver.url, ...events('clustered')]
          const clustered = await scene.run([...argv, ...more])
          assert.is(clustered.exit, 0, clustered.stderr)
          assert.not.match(clustered.stderr, /not sent/)
          assert.is(await drain(worker), 0, worker.stderr())

          const shapes = shapesOf(receiver)
          assert.equal(shapes, shapesOf(other))
          assert.is(Object.keys(shapes).length, 6)
          const [trace = []] = Object.values(shapes)
          assert.ok(trace.some(shape => shape.startsWith('troupe-environment exec below invoke_agent noter:')))
          const workersOf = (from: TracesReceiver) =>
            [...from.traces().values()].map(trace => String(rootOf(trace)?.attributes['troupe.worker']))
          assert.ok(workersOf(receiver).every(name => name.startsWith('worker-')))
          assert.equal([...new Set(workersOf(other))], ['undefined'])
          const sent = receiver.bodies.map((body, index) => [body.includes('troupe-environment'), receiver.keys[index]])
          assert.ok(sent.some(([isServers]) => isServers))
          for (const [isServers, key] of sent) assert.is(key, isServers ? 'of-the-worker' : undefined)

          const told = await eventsOf(join(scene.directory, 'clustered'))
          assert.equal([...told].sort(), [...(await eventsOf(join(scene.directory, 'alone')))].sort())
          assert.equal([told.at(0)?.split(':')[0], told.at(-1)?.split(':')[0]], ['engine-started', 'engine-closed'])
          assert.equal(scene.leftovers(), [])
        })
      }),
    ),
  SLOW,
)

/** What goes over the wire while `work` runs: the share of each plan, and of each run whether its trace is with it. */
async function listen(url: string, work: () => Promise<void>) {
  const connection = await connectNats({ urls: url, role: 'coordinator', name: 'test' })
  const shares: unknown[] = []
  const traced = new Map<RunId, boolean>()
  const plans = connection.subscribe('troupe.plans.*', {
    callback: (_, { subject, data }) => void shares.push('traced' in parsePlan(subject, data)),
  })
  const results = connection.subscribe('troupe.results.*.*', {
    callback(_, { subject, data }) {
      for (const result of parseResults(subject, data))
        if (result.type === 'run') traced.set(result.header.runId, 'trace' in result)
    },
  })
  try {
    await work()
    await connection.flush()
    plans.unsubscribe()
    results.unsubscribe()
    return { shares, traced }
  } finally {
    await connection.close()
  }
}

test(
  'a share is drawn as its ids say, and what is not drawn is not on the wire',
  () =>
    withCluster((scene, url) =>
      withReceiver(async receiver => {
        const worker = await startWorker(scene, url)
        const argv = [...evalNotes(scene, {}, '--group', '6'), '--cluster', url]
        const drawn = await listen(url, async () => {
          const { exit, stderr } = await scene.run([...argv, '--traces', receiver.url, '--traces-share', '0.5'])
          assert.is(exit, 0, stderr)
        })
        const untraced = await listen(url, async () => {
          const { exit, stderr } = await scene.run([...argv, '--group', '2', '--no-journal'])
          assert.is(exit, 0, stderr)
        })
        assert.is(await drain(worker), 0, worker.stderr())
        const runs = await scene.durable()
        const expected = runs.filter(({ jobId, runId }) => isDrawn(runTrace(jobId, runId), 0.5)).map(run => run.runId)
        // All of them, or none, in one of a hundred thousand runs of this test.
        assert.ok(expected.length > 0 && expected.length < 18, String(expected.length))
        const seen = [...receiver.traces().values()].map(trace => rootOf(trace)?.attributes['troupe.run.id'])
        assert.equal(seen.sort(), expected.sort())
        assert.equal(
          [...drawn.traced]
            .filter(([, isTraced]) => isTraced)
            .map(([runId]) => runId)
            .sort(),
          expected,
        )
        assert.equal([drawn.traced.size, new Set(drawn.shares)], [18, new Set([true])])
        assert.equal([untraced.traced.size, new Set(untraced.traced.values())], [6, new Set([false])])
        assert.equal(new Set(untraced.shares), new Set([false]))
        assert.equal(scene.leftovers(), [])
      }),
    ),
  SLOW,
)

async function countResults(connection: NatsConnection): Promise<number> {
  const { streams } = await jetstreamManager(connection)
  return (await streams.info(STREAMS.results)).state.messages
}

test(
  'what ended while the coordinator was dead is drawn by its next life, whole and once',
  () =>
    withCluster((scene, url) =>
      withReceiver(async receiver => {
        const worker = await startWorker(scene, url)
        const argv = [...evalNotes(scene, { hold: [0, 1, 2] }), '--cluster', url, '--traces', receiver.url]
        const killed = scene.start(argv)
        await until(
          () => scene.starts().length === 3,
          () => `all have begun: ${killed.stderr()}`,
        )
        killed.child.kill('SIGKILL')
        await killed.ended
        scene.go()
        const connection = await connectNats({ urls: url, role: 'coordinator', name: 'test' })
        try {
          await until(
            async () => (await countResults(connection)) === 3,
            () => `the stream has all runs: ${worker.stderr()}`,
          )
        } finally {
          await connection.close()
        }
        const again = await scene.run(argv)
        assert.is(again.exit, 0, again.stderr)
        assert.is(scene.starts().length, 3, 'nothing is begun again')
        assert.is(await drain(worker), 0, worker.stderr())
        const shapes = Object.values(shapesOf(receiver))
        assert.is(shapes.length, 3)
        for (const shape of shapes)
          assert.ok(
            shape.some(span => span.startsWith('troupe grading below rollout note:')),
            shape.join('\n'),
          )
      }),
    ),
  SLOW,
)

test.run()

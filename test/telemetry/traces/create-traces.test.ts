import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace'
import * as assert from 'uvu/assert'
import { Environment } from '../../../src/environment/environment.ts'
import { Job } from '../../../src/job/job.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { createTraces } from '../../../src/telemetry/traces/create-traces.ts'
import { parseTraceparent } from '../../../src/telemetry/traces/trace-ids.ts'
import { tracerOf } from '../../../src/telemetry/traces/tracers.ts'
import { InProcessRuntime } from '../../../src/testing/index.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'

const test = suite('traces in a program of one’s own')

function makeEnvironment(): Environment {
  const environment = new Environment('echo')
  environment.template('echo', {}, async function* () {
    yield Number(String(yield 'say 1') === '1')
  })
  return environment
}

const tasks = Array.from({ length: 3 }, (_, n) => ({ env: 'echo', id: 'echo', args: {}, slug: `echo-${n}` }))

/** Keeps what the SDK's own would throw away when it is shut down. */
function makeExporter() {
  const spans: ReadableSpan[] = []
  const inner = new InMemorySpanExporter()
  return {
    spans,
    export(batch: ReadableSpan[], done: Parameters<InMemorySpanExporter['export']>[1]) {
      spans.push(...batch)
      inner.export(batch, done)
    },
    shutdown: () => inner.shutdown(),
  }
}

/** Runs the tasks with an agent that notes what it is told to be part of. */
async function runJob(job: Job, told: (string | undefined)[]): Promise<void> {
  const agent = {
    name: 'sayer',
    async run({ traceparent }: { readonly traceparent?: string }) {
      told.push(traceparent)
      return { answer: '1', stop: 'done' as const }
    },
  }
  const runtime = new InProcessRuntime(makeEnvironment())
  for await (const _ of job.stream(new Taskset('echo', tasks), { kind: 'closure', agent }, { runtime, threads: 0 }));
}

test('a job’s rollouts are drawn by the exporter that it was given, those of another job are not', async () => {
  const exporter = makeExporter()
  const [job, other] = [await Job.start('one'), await Job.start('other')]
  const link = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
  const traces = await createTraces(job, { exporter, link, resource: { 'deployment.environment.name': 'tests' } })
  const [told, toldOther]: (string | undefined)[][] = [[], []]
  await runJob(job, told ?? [])
  await runJob(other, toldOther ?? [])
  await job.close()
  await other.close()
  await traces.close()
  assert.is(traces.dropped, 0)
  const roots = exporter.spans.filter(({ parentSpanContext }) => parentSpanContext === undefined)
  assert.equal(
    roots.map(({ name, links }) => [name, links.map(({ context }) => context.spanId)]),
    Array(3).fill(['rollout echo', [link.spanId]]),
  )
  assert.equal(
    [...new Set(exporter.spans.map(({ resource }) => resource.attributes['deployment.environment.name']))],
    ['tests'],
  )
  assert.is(exporter.spans[0]?.resource.attributes['troupe.job.id'], job.jobId)
  // What the agent was told is the span of its own phase.
  const agents = exporter.spans
    .filter(({ name }) => name === 'invoke_agent sayer')
    .map(span => span.spanContext().spanId)
  assert.equal((told ?? []).map(text => parseTraceparent(text)?.spanId).sort(), agents.sort())
  assert.equal(toldOther, [undefined, undefined, undefined])
  assert.is(tracerOf(job.jobId), undefined, 'nothing of it is kept')
})

test('with a share of none nothing is carried and nothing drawn', async () => {
  const exporter = makeExporter()
  const job = await Job.start('none')
  const traces = await createTraces(job, { exporter, share: 0 })
  const told: (string | undefined)[] = []
  await runJob(job, told)
  await job.close()
  await traces.close()
  assert.equal([exporter.spans.length, told], [0, [undefined, undefined, undefined]])
})

test('an option that cannot be is refused', async () => {
  const job = await Job.start('refused')
  const exporter = makeExporter()
  await assertRejects(createTraces(job, { exporter, share: 1.5 }), 'bad-traces-option', /share is 1.5/)
  await assertRejects(createTraces(job, {}), 'bad-traces-option', /one place/)
  await assertRejects(createTraces(job, { exporter, url: 'http://localhost' }), 'bad-traces-option', /one place/)
  await assertRejects(createTraces(job, { url: 'localhost' }), 'bad-traces-url')
  assert.is(tracerOf(job.jobId), undefined)
  await job.close()
})

test.run()

/** The one file that knows OpenTelemetry's SDK. */
import type { Agent } from 'node:http'
import { type Attributes, ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { bounded } from '../../bounded.ts'
import type { Clock } from '../../clock.ts'
import { hide, noteSecret } from '../../redact.ts'
import { readVersion } from '../../version.ts'

/** What happened, from its beginning to its end: spans are made whole, when they are over. */
export interface SpanData {
  readonly traceId: string
  readonly spanId: string
  /** Absent: the trace begins with it. */
  readonly parentId?: string
  readonly name: string
  readonly kind?: 'internal' | 'client' | 'server'
  /** Milliseconds since 1970, parts of one too. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes?: Attributes
  readonly links?: readonly SpanContext[]
  /** It failed: the kind of error, and its words. */
  readonly error?: { readonly type: string; readonly message?: string }
}

/** Where spans go to: queued, and sent in batches. */
export interface Spans {
  /** Returns at once; what the queue does not hold is dropped and counted. */
  add(span: SpanData): void
  /** Spans that were not sent, and will not be. Grows until `close` is over. */
  readonly dropped: number
  /** Sends what waits, for some seconds at most, and ends every connection. Never rejects; twice is once. */
  close(): Promise<void>
}

/** How spans are sent. */
export interface SpansPorts {
  /** Takes OTLP over HTTP, or somebody else's exporter, which is theirs to shut down. */
  readonly to: string | SpanExporter
  readonly serviceName: string
  readonly resource: Attributes
  readonly clock: Clock
  /** For one batch, with the tries of it. Less than `closeMs`: then none begins after the end. */
  readonly sendMs: number
  /** For all that waits at the end. */
  readonly closeMs: number
  /** The first batch that could not be sent; the next ones are tried all the same. */
  readonly onFailed: (error: unknown) => void
}

/** About 2 KB each. */
const QUEUE = 8_192
const BATCH = 512
const EVERY_MS = 1_000
const LONGEST_TEXT = 1_000
const KIND = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const

/** Sets no global of OpenTelemetry's: several of these in one process do not know of each other. */
export function openSpans(ports: SpansPorts): Spans {
  const { to, clock, closeMs } = ports
  const own = typeof to === 'string' ? makeExporter(to, ports.sendMs) : undefined
  const exporter = own?.exporter ?? (to as SpanExporter)
  let added = 0
  let sent = 0
  let hasFailed = false
  const counted: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, result => {
        if (result.error === undefined && result.code === 0) sent += spans.length
        else if (!hasFailed) {
          hasFailed = true
          ports.onFailed(result.error ?? new Error('the exporter said no more'))
        }
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: async () => (own === undefined ? exporter.forceFlush?.() : exporter.shutdown()),
  }
  const ids = makeGivenIds()
  const provider = new TracerProvider({
    resource: toResource(ports),
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: counted,
        maxQueueSize: QUEUE,
        maxExportBatchSize: BATCH,
        scheduledDelayMillis: EVERY_MS,
        // Longer than a batch can take: whoever gives up on one first must be who counts it.
        exportTimeoutMillis: ports.sendMs * 2,
      }),
    ],
  })
  const tracer = provider.getTracer('troupe', readVersion())
  let closing: Promise<void> | undefined

  async function end(): Promise<void> {
    // One batch that fails ends the SDK's own wait, and the others are still on their way.
    await bounded(clock, closeMs, () => provider.shutdown().catch(() => counted.forceFlush?.()))
    own?.cut()
  }

  return {
    add({ traceId, spanId, parentId, name, kind = 'internal', startMs, endMs, attributes = {}, links = [], error }) {
      if (closing !== undefined) return
      added += 1
      ids.next = { traceId, spanId }
      const parent =
        parentId === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: parentId, traceFlags: SAMPLED })
      const span = tracer.startSpan(
        name,
        {
          kind: KIND[kind],
          startTime: toHrTime(startMs),
          attributes: error === undefined ? attributes : { ...attributes, 'error.type': error.type },
          links: links.map(context => ({ context })),
        },
        parent,
      )
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, ...toMessage(error.message) })
      span.end(toHrTime(endMs))
    },
    get dropped() {
      return added - sent
    },
    close() {
      closing ??= end()
      return closing
    },
  }
}

const SAMPLED = 1

function toMessage(text: string | undefined): { readonly message?: string } {
  return text === undefined ? {} : { message: hide(text).slice(0, LONGEST_TEXT) }
}

/** A number would be taken for one since the process began where it is small, as in tests. */
function toHrTime(ms: number): [number, number] {
  const whole = Math.floor(ms / 1_000)
  return [whole, Math.min(999_999_999, Math.round((ms - whole * 1_000) * 1_000_000))]
}

/** Hands out what the next span is to be called. */
function makeGivenIds(): IdGenerator & { next: { readonly traceId: string; readonly spanId: string } } {
  return {
    next: { traceId: '', spanId: '' },
    generateTraceId() {
      return this.next.traceId
    },
    generateSpanId() {
      return this.next.spanId
    },
  }
}

function makeExporter(url: string, sendMs: number): { readonly exporter: SpanExporter; cut(): void } {
  for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])
    for (const pair of process.env[name]?.split(',') ?? []) noteSecret(pair.slice(pair.indexOf('=') + 1))
  let agent: Agent | undefined
  const exporter = new OTLPTraceExporter({
    url,
    timeoutMillis: sendMs,
    httpAgentOptions: async protocol => {
      const { Agent } = protocol === 'https:' ? await import('node:https') : await import('node:http')
      agent = new Agent({ keepAlive: true })
      return agent
    },
  })
  return { exporter, cut: () => agent?.destroy() }
}

/** What `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say comes before what is said here. */
function toResource({ serviceName, resource }: SpansPorts) {
  const own = { 'service.name': serviceName, 'service.version': readVersion(), ...resource }
  return resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }))
}

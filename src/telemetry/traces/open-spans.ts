/** The one file that knows OpenTelemetry's SDK. */
import type { Agent } from 'node:http'
import { type Attributes, type Link, type SpanContext, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import { bounded } from '../../bounded.ts'
import type { Clock } from '../../clock.ts'
import { hide, noteSecret } from '../../redact.ts'
import { readVersion } from '../../version.ts'

/** What happened, from its beginning to its end: spans are made whole, when they are over. */
export interface SpanData {
  readonly traceId: string
  readonly spanId: string
  /** Absent: the trace begins with it. */
  readonly parentId?: string | undefined
  readonly name: string
  readonly kind?: 'internal' | 'client' | 'server'
  /** Milliseconds since 1970, parts of one too. */
  readonly startMs: number
  readonly endMs: number
  /** What is undefined is left out. */
  readonly attributes?: Attributes | undefined
  readonly links?: readonly SpanContext[] | undefined
  /** It failed: the kind of error, and its words. */
  readonly error?: { readonly type: string; readonly message?: string | undefined } | undefined
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
const LONGEST_MESSAGE = 1_000
const KIND = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const
const SAMPLED = 1
const SUCCESS = 0

/**
 * The SDK's queue, batches and exporter, without its tracer: that makes up ids, looks at clocks and copies attributes, and spans that are over when they are made have
 * all of it. Nothing of OpenTelemetry's is set globally: several of these in one process do not know of each other.
 */
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
        if (result.code === SUCCESS) sent += spans.length
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
  const queue = new BatchSpanProcessor({
    exporter: counted,
    maxQueueSize: QUEUE,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: EVERY_MS,
    // Longer than a batch can take: whoever gives up on one first must be who counts it.
    exportTimeoutMillis: ports.sendMs * 2,
  })
  const toSpan = makeSpanMaker(toResource(ports))
  let closing: Promise<void> | undefined

  async function end(): Promise<void> {
    // One batch that fails ends the SDK's own wait, and the others are still on their way.
    await bounded(clock, closeMs, () => queue.shutdown().catch(() => counted.forceFlush?.()))
    own?.cut()
  }

  return {
    add(span) {
      if (closing !== undefined) return
      added += 1
      queue.onEnd(toSpan(span))
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

/** Spans as exporters read them. */
function makeSpanMaker(resource: Resource): (span: SpanData) => ReadableSpan {
  const instrumentationScope = { name: 'troupe', version: readVersion() }
  const unset = { code: SpanStatusCode.UNSET }
  return ({ traceId, spanId, parentId, name, kind = 'internal', startMs, endMs, attributes, links, error }) => {
    const context: SpanContext = { traceId, spanId, traceFlags: SAMPLED }
    const span = {
      name,
      kind: KIND[kind],
      spanContext: () => context,
      startTime: toHrTime(startMs),
      endTime: toHrTime(endMs),
      duration: toHrTime(endMs - startMs),
      ended: true,
      status: error === undefined ? unset : toStatus(error),
      attributes: toAttributes(attributes, error?.type),
      links: links === undefined ? NO_LINKS : links.map(to => ({ context: to })),
      events: [],
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
    return parentId === undefined
      ? span
      : Object.assign(span, { parentSpanContext: { traceId, spanId: parentId, traceFlags: SAMPLED } })
  }
}

const NO_LINKS: Link[] = []

function toAttributes(given: Attributes | undefined, errorType: string | undefined): Attributes {
  const attributes: Attributes = {}
  for (const key in given) {
    const value = given[key]
    if (value !== undefined) attributes[key] = value
  }
  if (errorType !== undefined) attributes['error.type'] = errorType
  return attributes
}

function toStatus({ message }: NonNullable<SpanData['error']>): ReadableSpan['status'] {
  const code = SpanStatusCode.ERROR
  return message === undefined ? { code } : { code, message: hide(message).slice(0, LONGEST_MESSAGE) }
}

/** Seconds and nanoseconds. */
function toHrTime(ms: number): [number, number] {
  const whole = Math.floor(ms / 1_000)
  return [whole, Math.min(999_999_999, Math.round((ms - whole * 1_000) * 1_000_000))]
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
function toResource({ serviceName, resource }: SpansPorts): Resource {
  const own = { 'service.name': serviceName, 'service.version': readVersion(), ...resource }
  return resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }))
}

import type { SpanContext } from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Clock } from '../../clock.ts'
import type { Job } from '../../job/job.ts'

/** Of `createTraces`: where spans are sent, and which. */
export interface TracesOptions {
  /** A receiver of OTLP over HTTP: `http://127.0.0.1:4318`, or the whole URL. */
  readonly url?: string
  /** In the place of a URL: an exporter of OpenTelemetry's SDK 2, which stays its owner's to shut down. */
  readonly exporter?: SpanExporter
  /** The share of runs that is drawn, from 0 to 1. Default 1. Which ones, follows from their ids. */
  readonly share?: number
  /** A span of the program's own: what begins each trace has a link to it. */
  readonly link?: SpanContext
  /** Attributes of the resource, beside `service.name` and `service.version`. `OTEL_RESOURCE_ATTRIBUTES` comes before them. */
  readonly resource?: Readonly<Record<string, string>>
  /** Told of the first batch that could not be sent. Default: nobody. */
  readonly onFailed?: (error: unknown) => void
  readonly clock?: Clock
}

/** The spans of one job, on their way out. */
export interface Traces {
  /** Spans that were not sent and will not be, once `close` is over. */
  readonly dropped: number
  /** Listens no more, and sends what waits, for five seconds at most. After the job's own `close`. Never rejects; twice is once. */
  close(): Promise<void>
}

/**
 * Draws a trace of each of that job's runs from now on, and of each step and evaluation of its training: make it before the job's first run. The context travels
 * to threads, environment servers and models as a W3C `traceparent`. Nothing of OpenTelemetry's is set globally, and its SDK is loaded only now.
 * Rejects with `bad-traces-url` or `bad-traces-option`. docs/metrics.md has every span.
 */
export async function createTraces(job: Pick<Job, 'jobId'>, options: TracesOptions): Promise<Traces> {
  const { makeJobTraces } = await import('./job-traces.ts')
  return makeJobTraces(job, options)
}

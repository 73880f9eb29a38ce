import type { Job } from '../../job/job.ts'

/** Of `createMetrics`. */
export interface MetricsOptions {
  /** On every sample: tells the jobs of one process apart where their texts end up in one place. Values must be few, as those of any label. */
  readonly labels?: Readonly<Record<string, string>>
}

/** The figures of one job, for Prometheus. */
export interface Metrics {
  /** What to answer as `Content-Type`. */
  readonly contentType: string
  /** All metrics as they are now, in Prometheus' text format: for the answer to a scrape. After `close`, as they were then. */
  text(): Promise<string>
  /** Listens no more. Twice is once. */
  close(): void
}

/**
 * Counts what happens to that job from now on, in a registry of its own: make it before the job's first run. For programs with an HTTP server of their own;
 * `troupe eval --metrics PORT` has one. docs/metrics.md has every metric.
 */
export async function createMetrics(
  job: Pick<Job, 'jobId' | 'snapshot'>,
  options: MetricsOptions = {},
): Promise<Metrics> {
  // Loaded when it is first used: most programs that import the library expose no metrics.
  const { makeJobMetrics } = await import('./job-metrics.ts')
  return makeJobMetrics(job, options)
}

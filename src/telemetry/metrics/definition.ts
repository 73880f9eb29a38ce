/** What one metric is. `docs/metrics.md` has a row for each; a test compares them. */
export interface MetricDefinition {
  /** As Prometheus wants it: base units, and `_total` for what only grows. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly help: string
  /** Each has few values, known before: no id of a run, a task or a job is one. */
  readonly labels?: readonly string[]
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[]
  /** A gauge that has no sample until there is something to tell: 0 would be a figure. */
  readonly absentAtFirst?: true
}

/** Seconds: from a phase that a warm sandbox makes nothing of, to a rollout of an hour. */
export const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]

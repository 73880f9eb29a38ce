/** The published ladder's own, in its order. */
export const PUBLISHED_LADDER_COLUMNS = [
  'n',
  'rep',
  'mode',
  'ok',
  'failed',
  'ready_p50_s',
  'ready_p95_s',
  'ready_min_s',
  'ready_max_s',
  'spread_s',
  'wall_s',
] as const

/**
 * All columns of a ladder, in the order in which they are written: the published ones, then ours, all of which may be missing. `*_s` are seconds, `*_ms`
 * milliseconds, `*_mib` mebibytes. `mode` is the strategy. `hit_rate` is a share. `engine_cpu_ms` is of one sandbox or rollout, getting ready
 * included; `fill_cpu_ms` is of getting ready alone, all sandboxes together, `rss_mib` the peak above rest of one concurrent rollout, `rss_peak_mib` the process's. `errors` is `tag:count tag:count`.
 */
export const LADDER_COLUMNS = [
  ...PUBLISHED_LADDER_COLUMNS,
  'work',
  'ready_p99_s',
  'lease_p50_ms',
  'lease_p95_ms',
  'lease_p99_ms',
  'hello_p50_ms',
  'hello_p95_ms',
  'hello_p99_ms',
  'start_p50_ms',
  'start_p95_ms',
  'start_p99_ms',
  'agent_p50_ms',
  'agent_p95_ms',
  'agent_p99_ms',
  'grade_p50_ms',
  'grade_p95_ms',
  'grade_p99_ms',
  'fill_s',
  'hit_rate',
  'hits',
  'colds',
  'claims',
  'forks',
  'creates',
  'create_failures',
  'leaked',
  'engine_cpu_ms',
  'fill_cpu_ms',
  'rss_mib',
  'rss_peak_mib',
  'loop_p99_ms',
  'loop_max_ms',
  'rollouts_per_s',
  'emulator_cpu_ms',
  'errors',
] as const
export type LadderColumn = (typeof LADDER_COLUMNS)[number]

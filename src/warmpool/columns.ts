/**
 * The table of a receipt of `troupe warmpool` and `troupe fork-bench`: one row a level, then one row a moment of what was held (`phase` is `held`). `*_s` are
 * seconds, `*_ms` milliseconds. `hit_rate` is the share of what was served that was found ready: in the pool, or in the provider's own. `engine_cpu_ms` is of
 * one sandbox, getting ready included; `fill_cpu_ms` of getting ready alone, all together. `held_ready` and `held_creating` are what was ready, and on its way, at the moment of asking; of a provider's pool that is not emulated,
 * what was last counted, up to two seconds before. `errors` is `tag:count tag:count`.
 */
export const LEVEL_FIGURES = [
  'rep',
  'batch',
  'n',
  'size',
  'parents',
  'ok',
  'failed',
  'ready_p50_s',
  'ready_p95_s',
  'ready_min_s',
  'ready_max_s',
  'spread_s',
  'wall_s',
  'hit_rate',
  'hits',
  'colds',
  'claims',
  'forks',
  'creates',
  'create_failures',
  'leaked',
  'fill_s',
  'refill_s',
  'held_ready',
  'held_creating',
  'engine_cpu_ms',
  'fill_cpu_ms',
  'emulator_cpu_ms',
] as const
export type LevelFigure = (typeof LEVEL_FIGURES)[number]

/** Of one moment. `at_s` counts from the first; `during` is what was going on. */
export const MOMENT_FIGURES = [
  'at_s',
  'ready',
  'creating',
  'leased',
  'deleting',
  'held_parents',
  'provider_ready',
] as const
export type MomentFigure = (typeof MOMENT_FIGURES)[number]

export const POOL_COLUMNS = ['phase', ...LEVEL_FIGURES, 'errors', 'during', ...MOMENT_FIGURES] as const

/** `fork` is what `warm` is in the other command. `drain`: a whole pool leased at once, and filled again; `batch`: right behind the one before. */
export const LEVEL_PHASES = ['cold', 'warm', 'fork', 'drain', 'batch'] as const
export type LevelPhase = (typeof LEVEL_PHASES)[number]
export const HELD = 'held'

/** One level. An absent figure was not measured, or means nothing there. */
export type LevelRow = { readonly phase: LevelPhase; readonly errors: string } & {
  readonly [Column in LevelFigure]?: number
}

/** What a pool held at one moment. `parents` says whose time line it is, where there are several. */
export type MomentRow = { readonly during: string; readonly parents?: number } & {
  readonly [Column in MomentFigure]?: number
}

/** Everything that one command measured, as the tables, the picture and the page are made from it. */
export interface PoolMeasurement {
  readonly levels: readonly LevelRow[]
  /** In the order of time, of the first repetition. */
  readonly moments: readonly MomentRow[]
}

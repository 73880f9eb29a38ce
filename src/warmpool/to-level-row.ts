import type { Level, PoolMoment, Prepared } from '../ladder/level.ts'
import { toLevelFigures } from '../ladder/level-figures.ts'
import type { LevelPhase, LevelRow } from './columns.ts'

/** What the level itself does not know. */
export interface LevelPlace {
  readonly phase: LevelPhase
  /** From 1, of those that follow each other. */
  readonly batch?: number
  readonly fill?: Prepared
  readonly refill?: Prepared
}

export function toLevelRow(level: Level, { phase, batch, fill, refill }: LevelPlace): LevelRow {
  const { cell, samples, pool, held } = level
  const { errors, ...common } = toLevelFigures(level)
  const isPool = cell.strategy === 'prewarm' || cell.strategy === 'provider-pool'
  const figures = {
    ...common,
    batch,
    size: isPool ? (cell.size ?? cell.width) : undefined,
    parents: cell.strategy === 'fork' ? cell.parents : undefined,
    hit_rate: samples.length === 0 ? undefined : (common.hits + common.claims) / samples.length,
    creates: pool?.created,
    fill_s: fill !== undefined && isFromEmpty(fill) ? fill.tookMs / 1_000 : undefined,
    refill_s: refill === undefined ? undefined : refill.tookMs / 1_000,
    held_ready: cell.strategy === 'provider-pool' ? held[0]?.providerReady : isPool ? held[0]?.ready : undefined,
    held_creating: isPool ? held[0]?.creating : undefined,
    fill_cpu_ms: fill?.cpuMs,
  }
  const known = Object.entries(figures).filter(([, value]) => value !== undefined && !Number.isNaN(value))
  return { phase, ...Object.fromEntries(known), errors }
}

/** A pool that had kept something, or was making it already, was not filled from empty. */
export function isFromEmpty({ held: [first] }: Prepared): boolean {
  return first !== undefined && isEmpty(first)
}

const isEmpty = ({ ready, creating, parents, providerReady = 0 }: PoolMoment): boolean =>
  ready + creating + parents + providerReady === 0

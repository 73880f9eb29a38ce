import type { Level, PoolMoment, Prepared } from '../ladder/level.ts'
import { summarise } from '../ladder/summary.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'
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
  const { cell, samples, pool, errors, held } = level
  const { usable } = summarise(level)
  const count = (kind: LeaseKind) => samples.filter(sample => sample.kind === kind).length
  const isPool = cell.strategy === 'prewarm' || cell.strategy === 'provider-pool'
  const figures = {
    rep: level.repetition,
    batch,
    n: cell.width,
    size: isPool ? (cell.size ?? cell.width) : undefined,
    parents: cell.strategy === 'fork' ? cell.parents : undefined,
    ok: samples.length,
    failed: level.failures.length,
    ready_p50_s: usable.p50 / 1_000,
    ready_p95_s: usable.p95 / 1_000,
    ready_min_s: usable.min / 1_000,
    ready_max_s: usable.max / 1_000,
    spread_s: (usable.max - usable.min) / 1_000,
    wall_s: level.wallMs / 1_000,
    hit_rate: samples.length === 0 ? undefined : (count('hit') + count('claim')) / samples.length,
    hits: count('hit'),
    colds: count('cold'),
    claims: count('claim'),
    forks: count('fork'),
    creates: pool?.created,
    create_failures: pool?.createFailures,
    leaked: level.leaked,
    fill_s: fill !== undefined && isFromEmpty(fill) ? fill.tookMs / 1_000 : undefined,
    refill_s: refill === undefined ? undefined : refill.tookMs / 1_000,
    held_ready: cell.strategy === 'provider-pool' ? held[0]?.providerReady : isPool ? held[0]?.ready : undefined,
    held_creating: isPool ? held[0]?.creating : undefined,
    engine_cpu_ms: level.cpuMs / cell.width,
    fill_cpu_ms: fill?.cpuMs,
    emulator_cpu_ms: level.emulatorCpuMs === undefined ? undefined : level.emulatorCpuMs / cell.width,
  }
  const known = Object.entries(figures).filter(([, value]) => value !== undefined && !Number.isNaN(value))
  return { phase, ...Object.fromEntries(known), errors: toErrorWords(errors) }
}

/** A pool that had kept something, or was making it already, was not filled from empty. */
export function isFromEmpty({ held: [first] }: Prepared): boolean {
  return first !== undefined && isEmpty(first)
}

const isEmpty = ({ ready, creating, parents, providerReady = 0 }: PoolMoment): boolean =>
  ready + creating + parents + providerReady === 0

const toErrorWords = (errors: Level['errors']): string =>
  Object.entries(errors)
    .map(([tag, count]) => `${tag}:${count}`)
    .join(' ')

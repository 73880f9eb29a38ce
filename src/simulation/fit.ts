import { interpolate } from '../emulator/figures.ts'
import type { SandboxOrigin } from '../runtimes/runtime.ts'
import { Z95 } from './draws.ts'
import { ladderForeign } from './errors.ts'
import { type LadderLevel, toLevels } from './ladder-levels.ts'
import type { LadderRow } from './ladder-row.ts'
import { type LatencyModel, type Path, type Points, PUBLISHED_MODEL } from './latency-model.ts'
import { ascending, mean } from './quantile.ts'
import { replayLevel } from './replay.ts'

/** Each pass corrects what the one before left, because not every part of a path grows with the stretch. */
const PASSES = 3
const SEED = 1
/** Sandboxes of one level, over its runs. */
const ENOUGH = 64
const ORIGINS: readonly SandboxOrigin[] = ['cold', 'claim', 'fork']

/**
 * A model that takes as long as was measured: the ladder is run again in the simulation, and each path is stretched until its medians at the measured widths are the
 * measured ones, and spread until its 95th percentiles are. Between the widths the stretch follows straight lines, beyond them it stays. A path that was not measured
 * is stretched as the first that was. Throws `ladder-foreign` when none was.
 */
export function fitLatencyModel(
  rows: readonly LadderRow[],
  source: string,
  base: LatencyModel = PUBLISHED_MODEL,
): LatencyModel {
  const measured = new Map(ORIGINS.map(origin => [origin, toLevels(rows, origin)] as const))
  const leader = ORIGINS.find(origin => levelsOf(measured, origin).length > 0)
  if (leader === undefined) throw ladderForeign([...new Set(rows.map(({ mode }) => mode))])
  let model: LatencyModel = { ...base, source, failures: fitFailures(rows, base.failures) }
  const stretchAll = (now: LatencyModel): LatencyModel => {
    const leading = toStretch(now, leader, levelsOf(measured, leader))
    return ORIGINS.reduce((next, origin) => {
      const levels = levelsOf(measured, origin)
      const own = origin === leader || levels.length === 0 ? leading : toStretch(now, origin, levels)
      return withPath(next, origin, stretchPath(now.paths[origin], own))
    }, now)
  }
  const spreadAll = (now: LatencyModel): LatencyModel =>
    ORIGINS.reduce((next, origin) => {
      const spread = fitSpread(now, origin, levelsOf(measured, origin))
      return withPath(next, origin, { ...now.paths[origin], spread })
    }, now)
  for (let pass = 0; pass < PASSES; pass += 1) model = spreadAll(stretchAll(model))
  // What is spread crowds less.
  return stretchAll(model)
}

/** By how much each level takes longer than it does now. */
function toStretch(model: LatencyModel, origin: SandboxOrigin, levels: readonly LadderLevel[]): Points {
  return levels.map(({ width, p50Ms }) => [width, p50Ms / replay(model, origin, width).p50Ms] as const)
}

/** A narrow level is run several times: its median is one of few. */
function replay(model: LatencyModel, origin: SandboxOrigin, width: number) {
  const runs = Array.from({ length: Math.min(8, Math.ceil(ENOUGH / width)) }, (_, run) =>
    replayLevel(model, origin, width, SEED + run),
  )
  return { p50Ms: mean(runs.map(({ p50Ms }) => p50Ms)), p95Ms: mean(runs.map(({ p95Ms }) => p95Ms)) }
}

const levelsOf = (measured: ReadonlyMap<SandboxOrigin, readonly LadderLevel[]>, origin: SandboxOrigin) =>
  measured.get(origin) ?? []

const withPath = (model: LatencyModel, origin: SandboxOrigin, path: Path): LatencyModel => ({
  ...model,
  paths: { ...model.paths, [origin]: path },
})

function stretchPath(path: Path, stretch: Points): Path {
  return { ...path, start: stretchPoints(path.start, stretch), serve: stretchPoints(path.serve, stretch) }
}

/** A part that does not mind crowding is stretched by what the narrowest level needs. */
function stretchPoints(points: Points, stretch: Points): Points {
  const [[narrowest = 1] = [], [widest = 1] = []] = [stretch.at(0), stretch.at(-1)]
  const at = (width: number) => interpolate(stretch, Math.min(widest, Math.max(narrowest, width)))
  if (points.length === 1) return points.map(([width, ms]) => [width, ms * at(width)] as const)
  const widths = ascending([...new Set([...points, ...stretch].map(([width]) => width))])
  return widths.map(width => [width, interpolate(points, width) * at(width)] as const)
}

/** What one sandbox as a whole must vary, beside its parts. */
function fitSpread(model: LatencyModel, origin: SandboxOrigin, levels: readonly LadderLevel[]): number {
  const widest = levels.at(-1)
  if (widest === undefined) return model.paths[origin].spread
  const { p50Ms, p95Ms } = replay(model, origin, widest.width)
  const [wanted, has] = [mean(levels.map(({ excess }) => excess)) / Z95, (p95Ms / p50Ms - 1) / Z95]
  return Math.sqrt(Math.max(0, wanted ** 2 - has ** 2 + model.paths[origin].spread ** 2))
}

/** Shares at the widths that were measured; beyond the widest, what was known before. */
function fitFailures(rows: readonly LadderRow[], known: Points): Points {
  const widths = ascending([...new Set(rows.map(({ n }) => n))])
  const widest = widths.at(-1) ?? 0
  const shares = widths.map(width => {
    const own = rows.filter(({ n }) => n === width)
    const failed = own.reduce((sum, row) => sum + row.failed, 0)
    return [width, failed / own.reduce((sum, row) => sum + row.failed + row.ok, 0)] as const
  })
  return [...shares, ...known.filter(([width]) => width > widest)]
}

import { LADDER_COLUMNS, type LadderColumn } from '../receipts/ladder-columns.ts'
import type { Level } from './level.ts'
import { toLevelFigures } from './level-figures.ts'
import { type LevelSummary, summarise } from './summary.ts'

const MIB = 2 ** 20
const STAGES = ['lease', 'hello', 'start', 'agent', 'grade'] as const
const SHARES = ['p50', 'p95', 'p99'] as const

/** A level as a row of a ladder's receipt: cells by column, absent where there is nothing to say. */
export function toLevelRow(level: Level): Readonly<Record<string, string>> {
  const summary = summarise(level)
  const figures = { ...toFigures(level, summary), ...toStageFigures(summary) }
  return Object.fromEntries(
    LADDER_COLUMNS.flatMap(column => {
      const value = figures[column]
      return value === undefined || Number.isNaN(value) || value === '' ? [] : [[column, toCell(column, value)]]
    }),
  )
}

type Figures = { readonly [Column in LadderColumn]?: string | number | undefined }

function toFigures(level: Level, { usable }: LevelSummary): Figures {
  const { cell, samples, failures, pool } = level
  const common = toLevelFigures(level)
  return {
    ...common,
    mode: cell.strategy,
    work: cell.work,
    ready_p99_s: usable.p99 / 1_000,
    fill_s: level.fillMs / 1_000,
    hit_rate: samples.length === 0 ? undefined : common.hits / samples.length,
    creates: pool?.created ?? samples.length + failures.length,
    fill_cpu_ms: level.fillCpuMs,
    rss_mib: Math.max(0, level.peakRssBytes - level.restRssBytes) / cell.width / MIB,
    rss_peak_mib: level.peakRssBytes / MIB,
    loop_p99_ms: level.loopP99Ms,
    loop_max_ms: level.loopMaxMs,
    rollouts_per_s: cell.work === 'rollout' ? samples.length / (level.wallMs / 1_000) : undefined,
  }
}

function toStageFigures({ stages }: LevelSummary): Figures {
  return Object.fromEntries(
    STAGES.flatMap(stage => SHARES.map(share => [`${stage}_${share}_ms`, stages.get(stage)?.[share]])),
  )
}

/** Seconds to the millisecond, short ones to a tenth of it; all else to two digits behind the point. */
function toCell(column: LadderColumn, value: string | number): string {
  if (typeof value === 'string') return value
  if (Number.isInteger(value)) return String(value)
  if (column.endsWith('_s') && value < 0.1) return value.toFixed(4)
  return column.endsWith('_s') || column === 'hit_rate' || column === 'rss_mib' ? value.toFixed(3) : value.toFixed(2)
}

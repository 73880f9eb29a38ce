import type { LeaseKind } from '../runtimes/runtime.ts'
import type { Level } from './level.ts'
import { summarise } from './summary.ts'

/** What every receipt says of a level, by the names of its columns. NaN where nothing became usable. */
export function toLevelFigures(level: Level) {
  const { cell, samples, failures, pool } = level
  const { usable } = summarise(level)
  const count = (kind: LeaseKind) => samples.filter(sample => sample.kind === kind).length
  return {
    n: cell.width,
    rep: level.repetition,
    ok: samples.length,
    failed: failures.length,
    ready_p50_s: usable.p50 / 1_000,
    ready_p95_s: usable.p95 / 1_000,
    ready_min_s: usable.min / 1_000,
    ready_max_s: usable.max / 1_000,
    spread_s: (usable.max - usable.min) / 1_000,
    wall_s: level.wallMs / 1_000,
    hits: count('hit'),
    colds: count('cold'),
    claims: count('claim'),
    forks: count('fork'),
    create_failures: pool?.createFailures,
    leaked: level.leaked,
    engine_cpu_ms: (level.cpuMs + level.fillCpuMs) / cell.width,
    emulator_cpu_ms: level.emulatorCpuMs === undefined ? undefined : level.emulatorCpuMs / cell.width,
    errors: Object.entries(level.errors)
      .map(([tag, count]) => `${tag}:${count}`)
      .join(' '),
  }
}

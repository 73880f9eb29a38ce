import hdr from 'hdr-histogram-js'
import { PHASES, type Phase, type RunHeader } from '../rollout/run.ts'

/** How long one stage took over all runs that reached it. Milliseconds, to three significant digits. */
export interface StageTiming {
  /** `total` is a run from its first attempt's start to its end. */
  readonly stage: Phase | 'total'
  readonly runs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly maxMs: number
}

const MICROSECONDS_PER_MS = 1000

/** Stages that no run reached are left out. */
export function timeStages(runs: readonly RunHeader[]): StageTiming[] {
  return [
    ...PHASES.flatMap(phase =>
      summarise(
        phase,
        runs.flatMap(run => run.timings[phase] ?? []),
      ),
    ),
    ...summarise(
      'total',
      runs.map(run => run.endedAt - run.startedAt),
    ),
  ]
}

function summarise(stage: StageTiming['stage'], durationsMs: readonly number[]): StageTiming[] {
  if (durationsMs.length === 0) return []
  const histogram = hdr.build({ lowestDiscernibleValue: 1, numberOfSignificantValueDigits: 3, autoResize: true })
  for (const durationMs of durationsMs) histogram.recordValue(Math.max(0, Math.round(durationMs * MICROSECONDS_PER_MS)))
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / MICROSECONDS_PER_MS
  return [{ stage, runs: durationsMs.length, p50Ms: at(50), p95Ms: at(95), maxMs: at(100) }]
}

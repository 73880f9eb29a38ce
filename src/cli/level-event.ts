import type { Level } from '../ladder/level.ts'
import type { JobEvent } from '../telemetry/events/job-event.ts'

/** A level of a ladder that was measured, without its samples. */
export function toLevelEvent({ cell, repetition, samples, failures, leaked, wallMs, fillMs }: Level): JobEvent {
  const { strategy, work, width } = cell
  const counts = { usable: samples.length, failed: failures.length, leaked }
  return { type: 'level-measured', strategy, work, width, repetition, ...counts, wallMs, fillMs }
}

import type { Deadlines } from '../job/options.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Every wait of a rollout is bounded even when nobody says how: a wedged environment costs minutes, never the run. */
export const DEFAULT_DEADLINES: Deadlines = {
  provisioning: 10 * MINUTE,
  connecting: 2 * MINUTE,
  starting: 2 * MINUTE,
  agent: 30 * MINUTE,
  grading: 10 * MINUTE,
  cleanup: 15 * SECOND,
  rollout: 60 * MINUTE,
}

/** The defaults with `given` laid over them. */
export function withDefaultDeadlines(given: Partial<Deadlines> = {}): Deadlines {
  return { ...DEFAULT_DEADLINES, ...given }
}

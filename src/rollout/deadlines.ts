import type { Deadlines } from '../job/options.ts'
import type { Task } from '../taskset/task.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Every wait of a rollout is bounded even when nobody says how: a wedged environment costs minutes, never the run. */
export const DEFAULT_DEADLINES: Deadlines = {
  provisioning: 10 * MINUTE,
  connecting: 2 * MINUTE,
  starting: 2 * MINUTE,
  agent: 30 * MINUTE,
  grading: 10 * MINUTE,
  verifying: 20 * MINUTE,
  cleanup: 15 * SECOND,
  rollout: 60 * MINUTE,
}

/** The defaults with `given` laid over them. */
export function withDefaultDeadlines(given: Partial<Deadlines> = {}): Deadlines {
  return { ...DEFAULT_DEADLINES, ...given }
}

/** The agent's time as the task's row limits it, in milliseconds; undefined where it does not. */
export function agentLimitMs({ agent_config: config }: Task): number | undefined {
  const seconds = config?.timeout_seconds
  return typeof seconds === 'number' ? seconds * 1_000 : undefined
}

/** The run's deadlines with what the task's row says of its agent's time. */
export function withTaskDeadlines(deadlines: Deadlines, task: Task): Deadlines {
  const agent = agentLimitMs(task)
  return agent === undefined ? deadlines : { ...deadlines, agent }
}

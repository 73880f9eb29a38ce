import type { RuntimeConfig } from './runtime-config.ts'

/**
 * One concrete task: a template of an environment with its arguments. Pure data, so one task can drive many rollouts at
 * once; the fields are those of HUD's task rows.
 */
export interface Task {
  /** The environment's name. */
  readonly env: string
  /** The template's id in that environment. */
  readonly id: string
  readonly args: Readonly<Record<string, unknown>>
  /** Unique in a taskset. Default: `id`, plus `-` and 8 hex digits over the arguments when there are any. */
  readonly slug: string
  readonly validation?: readonly Readonly<Record<string, unknown>>[]
  /** Laid over the agent's own config for this task; `timeout_seconds` limits the agent's time. */
  readonly agent_config?: Readonly<Record<string, unknown>>
  /** Facets for tables and filters, for instance `{ bugs: 4 }`. */
  readonly columns?: Readonly<Record<string, unknown>>
  /** What its sandbox is to be, where that is not what the runtime makes of itself. */
  readonly runtime_config?: RuntimeConfig
  /** A task without an agent whose grade is the grade of record: it gets the first task's grade, with the agent's answer, as its answer. */
  readonly verifier?: Task
}

/** Whether a task's verifier works in the task's own session: it names the same environment, and asks for no sandbox of its own. */
export function sharesSandbox(task: Task, verifier: Task): boolean {
  return verifier.env === task.env && verifier.runtime_config === undefined
}

/** Every task that a sandbox is asked for: the tasks, and the verifiers that get one of their own. */
export function toPlacedTasks(tasks: readonly Task[]): readonly Task[] {
  return tasks.flatMap(task =>
    task.verifier === undefined || sharesSandbox(task, task.verifier) ? [task] : [task, task.verifier],
  )
}

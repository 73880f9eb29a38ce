import type { AgentSpec } from '../agents/agent.ts'
import { runTaskset, streamTaskset } from '../assembly/run-taskset.ts'
import type { Job } from '../job/job.ts'
import type { RunOptions } from '../job/options.ts'
import type { GroupStream } from '../stream/group-stream.ts'
import { emptyTaskset } from './errors.ts'
import { parseTaskRows, type TaskRow } from './parse-task-rows.ts'
import { readRows } from './read-rows.ts'
import { selectTasks } from './select-tasks.ts'
import type { Task } from './task.ts'

export interface TasksetOptions {
  /** The environment's source, for runtimes that serve it themselves. */
  readonly environment?: string
}

/** A named list of tasks, checked when it is made: each slug once, at least one task. */
export class Taskset {
  readonly name: string
  readonly tasks: readonly Task[]
  readonly environment: string | undefined

  /** Throws `bad-task-rows` with everything that is wrong with the rows, or `empty-taskset`. */
  constructor(name: string, rows: Iterable<TaskRow>, options: TasksetOptions = {}) {
    this.name = name
    this.tasks = parseTaskRows([...rows].map((value, index) => ({ value, place: `${name}[${index}]` })))
    this.environment = options.environment
    if (this.tasks.length === 0) throw emptyTaskset(name)
  }

  /** Reads a file or directory: see `readRows` for the forms it may have and the errors that name file and line. */
  static async load(path: string): Promise<Taskset> {
    const { name, rows, environment } = await readRows(path)
    return new Taskset(name, parseTaskRows(rows), environment === undefined ? {} : { environment })
  }

  /** The tasks named by slug, template id, index or range (`0-15`), in this order. Throws `unknown-task`. */
  select(selectors: readonly string[]): Taskset {
    const options = this.environment === undefined ? {} : { environment: this.environment }
    return new Taskset(this.name, selectTasks(this.name, this.tasks, selectors), options)
  }

  /**
   * Runs every task `group` times and yields the groups as they end. Checks that need no sandbox are made at once and throw;
   * the run starts with the first subscription or iteration, and leaving the loop ends it in order.
   */
  stream(agent: AgentSpec, options: RunOptions & { readonly job?: Job }): GroupStream {
    return streamTaskset(this, agent, options)
  }

  /** The same to its end. Rejects only when nothing could be run; runs that failed are in the job. */
  run(agent: AgentSpec, options: RunOptions & { readonly job?: Job }): Promise<Job> {
    return runTaskset(this, agent, options)
  }
}

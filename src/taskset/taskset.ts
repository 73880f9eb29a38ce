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
import { writeRows } from './write-rows.ts'

export interface TasksetOptions {
  /** The environment's source, for runtimes that serve it themselves. */
  readonly environment?: string
  /** Its id at HUD's platform, where it was loaded from there: jobs that run it are linked with it. */
  readonly platformId?: string
}

/** A named list of tasks, checked when it is made: each slug once, at least one task. */
export class Taskset {
  readonly name: string
  readonly tasks: readonly Task[]
  readonly environment: string | undefined
  /** Its id at HUD's platform; undefined for one that was not loaded from there. */
  readonly platformId: string | undefined

  /** Throws `bad-task-rows` with everything that is wrong with the rows, or `empty-taskset`. */
  constructor(name: string, rows: Iterable<TaskRow>, options: TasksetOptions = {}) {
    this.name = name
    this.tasks = parseTaskRows([...rows].map((value, index) => ({ value, place: `${name}[${index}]` })))
    this.environment = options.environment
    this.platformId = options.platformId
    if (this.tasks.length === 0) throw emptyTaskset(name)
  }

  /**
   * Reads a file or directory, or with `hud:NAME` or `hud:ID` the taskset of HUD's platform with the key in `HUD_API_KEY`: see `readRows` for the forms
   * it may have and the errors that name file and line.
   */
  static async load(path: string): Promise<Taskset> {
    const { name, rows, ...options } = await readRows(path)
    return new Taskset(name, parseTaskRows(rows), options)
  }

  /** Writes the tasks as rows, to `.json` or `.jsonl`, for `load` here and HUD's `Taskset.from_file`. Rejects with `tasks-not-written`. */
  save(path: string): Promise<void> {
    return writeRows(path, this.tasks)
  }

  /** The tasks named by slug, template id, index or range (`0-15`), in this order. Throws `unknown-task`. */
  select(selectors: readonly string[]): Taskset {
    const { environment, platformId } = this
    return new Taskset(this.name, selectTasks(this.name, this.tasks, selectors), {
      ...(environment === undefined ? {} : { environment }),
      ...(platformId === undefined ? {} : { platformId }),
    })
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

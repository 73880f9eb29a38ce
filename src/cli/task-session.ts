import { randomBytes } from 'node:crypto'
import { toSandboxId } from '../ids.ts'
import { impossibleTasks } from '../job/errors.ts'
import { toOwnerWord } from '../owner.ts'
import { configurationProblems } from '../runtimes/configure.ts'
import type { Task } from '../taskset/task.ts'
import { Taskset } from '../taskset/taskset.ts'
import { makeControlClient } from '../wire/client.ts'
import type { ControlSession } from '../wire/session.ts'
import type { Cli } from './cli.ts'
import type { TaskArguments } from './commands/task.ts'
import { armInterrupt } from './interrupt.ts'
import { allNameImages, makeRuntime } from './runtime-options.ts'

const CONNECT_DEADLINE_MS = 10_000

/** What is to be started: a template and its arguments. */
export interface ChosenTask {
  readonly id: string
  readonly args: Readonly<Record<string, unknown>>
  /** The row, where one was chosen. */
  readonly row?: Task
}

/** Where the commands of `troupe task` work. */
export interface TaskPlace {
  readonly session: ControlSession
  /** True when somebody else serves the environment, so that a session can outlive this command. */
  readonly lasting: boolean
  readonly signal: AbortSignal
}

/** A slug, id or index of `--tasks`, or without it the id of a template with `--args`. */
export async function chooseTask(text: string, options: TaskArguments): Promise<ChosenTask> {
  if (options.tasks === undefined) return { id: text, args: options.args ?? {} }
  const [task] = (await Taskset.load(options.tasks)).select([text]).tasks
  if (task === undefined) return { id: text, args: options.args ?? {} }
  return { id: task.id, args: { ...task.args, ...options.args }, row: task }
}

/**
 * Opens one session in the environment that the options name, for as long as `use` runs; what was started here ends with it. A row's sandbox is as its
 * `runtime_config` says, where the runtime can do that: rejects with `bad-tasks` where it cannot.
 */
export async function withSession<Result>(
  options: TaskArguments,
  cli: Cli,
  use: (place: TaskPlace) => Promise<Result>,
  row?: Task,
): Promise<Result> {
  const beside = options.tasks === undefined ? undefined : (await Taskset.load(options.tasks)).environment
  const runtime = await makeRuntime(options, beside, cli.console, allNameImages(row === undefined ? [] : [row]))
  const interrupt = armInterrupt({ onFirst: () => cli.console.talk('ending'), onSecond: () => process.exit(130) })
  const client = makeControlClient({ multiplex: 'never' })
  const { signal } = interrupt
  try {
    const problems = row === undefined ? [] : configurationProblems(runtime, row)
    if (row !== undefined && problems.length > 0)
      throw impossibleTasks(problems.map(problem => `${row.slug}: ${problem}`))
    await runtime.preflight(row === undefined ? undefined : { sandboxes: 1, providerPool: false, tasks: [row] })
    const sandbox = await runtime.provision({
      id: toSandboxId(`task-${randomBytes(4).toString('hex')}`),
      task: row,
      labels: { job: 'troupe-task', owner: toOwnerWord() },
      prewarm: false,
      signal,
    })
    try {
      const session = await client.connect(sandbox.address, {
        clock: cli.clock,
        deadlineMs: CONNECT_DEADLINE_MS,
        signal,
        ...(options.session === undefined ? {} : { sessionId: options.session }),
      })
      return await use({ session, lasting: runtime.name === 'url', signal })
    } finally {
      await sandbox.dispose({ sessionEnded: true })
    }
  } finally {
    await client.close()
    await runtime.close()
    interrupt.disarm()
  }
}

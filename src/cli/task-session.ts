import { randomBytes } from 'node:crypto'
import { toSandboxId } from '../ids.ts'
import { toOwnerWord } from '../owner.ts'
import { Taskset } from '../taskset/taskset.ts'
import { makeControlClient } from '../wire/client.ts'
import type { ControlSession } from '../wire/session.ts'
import type { Cli } from './cli.ts'
import type { TaskArguments } from './commands/task.ts'
import { armInterrupt } from './interrupt.ts'
import { makeRuntime } from './runtime-options.ts'

const CONNECT_DEADLINE_MS = 10_000

/** What is to be started: a template and its arguments. */
export interface ChosenTask {
  readonly id: string
  readonly args: Readonly<Record<string, unknown>>
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
  return { id: task?.id ?? text, args: { ...task?.args, ...options.args } }
}

/** Opens one session in the environment that the options name, for as long as `use` runs; what was started here ends with it. */
export async function withSession<Result>(
  options: TaskArguments,
  cli: Cli,
  use: (place: TaskPlace) => Promise<Result>,
): Promise<Result> {
  const beside = options.tasks === undefined ? undefined : (await Taskset.load(options.tasks)).environment
  const runtime = await makeRuntime(options, beside, cli.console)
  const interrupt = armInterrupt({ onFirst: () => cli.console.talk('ending'), onSecond: () => process.exit(130) })
  const client = makeControlClient({ multiplex: 'never' })
  const { signal } = interrupt
  try {
    await runtime.preflight()
    const sandbox = await runtime.provision({
      id: toSandboxId(`task-${randomBytes(4).toString('hex')}`),
      task: undefined,
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

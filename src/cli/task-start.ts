import { renderPrompt } from '../report/render-prompt.ts'
import type { Cli } from './cli.ts'
import type { TaskArguments } from './commands/task.ts'
import { chooseTask, withSession } from './task-session.ts'

/** Prints the prompt. Where somebody else serves the environment, the session is left parked for `task grade`. */
export async function startTask(text: string, options: TaskArguments, cli: Cli): Promise<void> {
  const task = await chooseTask(text, options)
  const { sessionId, frame, lasting } = await withSession(
    options,
    cli,
    async ({ session, lasting, signal }) => {
      const frame = await session.startTask(task.id, task.args, signal)
      if (lasting) await session.park()
      else await session.end()
      return { sessionId: session.sessionId, frame, lasting }
    },
    task.row,
  )
  const { console } = cli
  if (options.json === true) await console.print(JSON.stringify({ ...frame, sessionId: lasting ? sessionId : null }))
  else await console.print(renderPrompt(frame.prompt))
  console.talk(
    lasting
      ? `session ${sessionId} is parked; grade it with: troupe task grade --session ${sessionId} --url ${options.url} --answer …`
      : 'the environment was served for this command only and its session has ended; `troupe serve` and --url keep one',
  )
}

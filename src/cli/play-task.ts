import { createInterface } from 'node:readline/promises'
import type { ControlSession } from '../wire/session.ts'
import type { Cli } from './cli.ts'
import type { PlayArguments } from './commands/play.ts'
import { playShell } from './play-shell.ts'
import { chooseTask, withSession } from './task-session.ts'

/** Shows the prompt, hands over a shell of the workspace, and grades what was done. Prints the score, or with `--json` the whole grade. */
export async function playTask(
  input: { readonly tasks: string; readonly task: string },
  options: PlayArguments,
  cli: Cli,
): Promise<void> {
  const { console } = cli
  const where = { ...options, tasks: input.tasks }
  const task = await chooseTask(input.task, where)
  const grade = await withSession(where, cli, async ({ session, signal }) => {
    const { prompt } = await session.startTask(task.id, task.args, signal)
    console.talk(`${typeof prompt === 'string' ? prompt : JSON.stringify(prompt, undefined, 2)}\n`)
    await play(session, options, cli, signal)
    const answer = options.answer ?? (await askAnswer(cli, signal))
    const frame = await session.grade(answer, signal)
    await session.end()
    return frame
  })
  await console.print(options.json === true ? JSON.stringify(grade) : String(grade.score))
}

async function play(session: ControlSession, options: PlayArguments, cli: Cli, signal: AbortSignal): Promise<void> {
  const binding = session.bindings.find(({ protocol }) => protocol === 'ssh/2')
  if (binding === undefined) return cli.console.talk('this environment has no shell: the answer is all that is graded')
  const stream = await session.openTunnel(binding.name, signal)
  const screen = options.json === true ? cli.console.stderr : cli.console.stdout
  await playShell({ stream, binding }, { clock: cli.clock, screen, signal })
}

/** Nobody is there to be asked where stdin is no terminal; the empty answer is then the answer. */
async function askAnswer({ console }: Cli, signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY !== true) return ''
  const lines = createInterface({ input: process.stdin, output: console.stderr })
  try {
    return await lines.question('answer (may be empty): ', { signal })
  } finally {
    lines.close()
  }
}

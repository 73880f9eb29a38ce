import { createInterface } from 'node:readline/promises'
import { answerWords } from '../agents/prompt.ts'
import { readAnswer } from '../agents/read-answer.ts'
import { renderPrompt } from '../report/render-prompt.ts'
import { sharesSandbox, type Task } from '../taskset/task.ts'
import type { ControlSession, GradeFrame } from '../wire/session.ts'
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
  const grade = await withSession(
    where,
    cli,
    async ({ session, signal }) => {
      const { prompt } = await session.startTask(task.id, task.args, signal)
      const returns = (await session.listTasks(signal)).find(({ id }) => id === task.id)?.returns
      const words = answerWords(returns)
      console.talk(`${renderPrompt(prompt)}\n${words === undefined ? '' : `\n${words}\n`}`)
      await play(session, options, cli, signal)
      const answer = readAnswer(options.answer ?? (await askAnswer(cli, signal)), returns)
      const frame = await session.grade(answer, signal)
      const verified = task.row === undefined ? frame : await verify(session, task.row, { answer, frame }, cli, signal)
      await session.end()
      return verified
    },
    task.row,
  )
  await console.print(options.json === true ? JSON.stringify(grade) : String(grade.score))
}

/** The grade of record, where the verifier works in the same session; else the task's own, which is then said. */
async function verify(
  session: ControlSession,
  row: Task,
  { answer, frame }: { readonly answer: unknown; readonly frame: GradeFrame },
  { console }: Cli,
  signal: AbortSignal,
): Promise<GradeFrame> {
  const { verifier } = row
  if (verifier === undefined) return frame
  if (!sharesSandbox(row, verifier)) {
    console.talk(
      "this is the task's own grade: its verifier, whose grade counts, gets a sandbox of its own, and troupe eval starts that",
    )
    return frame
  }
  await session.startTask(verifier.id, verifier.args, signal)
  return session.grade({ answer, ...frame }, signal)
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

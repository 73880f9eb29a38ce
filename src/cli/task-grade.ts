import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import type { Cli } from './cli.ts'
import type { TaskArguments } from './commands/task.ts'
import { conflictingOptions, missingOption } from './errors.ts'
import { chooseTask, withSession } from './task-session.ts'

/** Grades the task of a parked session, or starts one and grades it at once. Prints the score, or with `--json` the whole grade. */
export async function gradeTask(text: string | undefined, options: TaskArguments, cli: Cli): Promise<void> {
  if (text !== undefined && options.session !== undefined)
    throw conflictingOptions('<task>', '--session', 'a session already has its task')
  if (text === undefined && options.url === undefined)
    throw missingOption('<task>', 'without --url there is no started task to grade; name one to start and grade')
  const answer = await readAnswer(options)
  const task = text === undefined ? undefined : await chooseTask(text, options)
  const grade = await withSession(
    options,
    cli,
    async ({ session, signal }) => {
      if (task !== undefined) await session.startTask(task.id, task.args, signal)
      const frame = await session.grade(answer, signal)
      await session.end()
      return frame
    },
    task?.row,
  )
  await cli.console.print(options.json === true ? JSON.stringify(grade) : String(grade.score))
}

async function readAnswer({ answer, answerFile }: TaskArguments): Promise<string> {
  if (answer !== undefined && answerFile !== undefined)
    throw conflictingOptions('--answer', '--answer-file', 'give one')
  if (answer !== undefined) return answer
  if (answerFile === undefined)
    throw missingOption('--answer', 'there is nothing to grade; --answer "" is an empty one')
  return answerFile === '-' ? await readAll(process.stdin) : await readFile(answerFile, 'utf8')
}

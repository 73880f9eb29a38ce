import type { Command } from 'commander'
import { toJsonObject } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addRuntimeOptions, type RuntimeArguments } from '../runtime-options.ts'

/** The options of `troupe task start|grade|list` as the actions get them. */
export interface TaskArguments extends RuntimeArguments {
  readonly tasks?: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly session?: string
  readonly answer?: string
  readonly answerFile?: string
  readonly json?: true
}

export function define(command: Command, cli: Cli): void {
  common(command.command('list').description('List what can be started: templates, or the tasks of --tasks.'))
    .addHelpText('after', LIST_EXAMPLES)
    .action(async (options: TaskArguments) => {
      const { listTasks } = await import('../task-list.ts')
      await listTasks(options, cli)
    })
  common(
    command
      .command('start')
      .description('Start a task and print its prompt; the session stays parked until it is graded.'),
  )
    .argument('<task>', 'a template id, or with --tasks a slug, id or index')
    .option('--args <json>', "the template's arguments, a JSON object", toJsonObject)
    .addHelpText('after', START_EXAMPLES)
    .action(async (task: string, options: TaskArguments) => {
      const { startTask } = await import('../task-start.ts')
      await startTask(task, options, cli)
    })
  common(command.command('grade').description('Grade an answer and print the score.'))
    .argument('[task]', 'the task to start first; leave it out to grade one that was started')
    .option('--args <json>', "the template's arguments, a JSON object", toJsonObject)
    .option('--session <id>', 'the parked session that `task start` printed')
    .option('--answer <text>', 'the answer')
    .option('--answer-file <file>', 'a file with the answer; - for stdin')
    .addHelpText('after', GRADE_EXAMPLES)
    .action(async (task: string | undefined, options: TaskArguments) => {
      const { gradeTask } = await import('../task-grade.ts')
      await gradeTask(task, options, cli)
    })
}

function common(command: Command): Command {
  return addRuntimeOptions(command)
    .option('--tasks <path>', 'a tasks file: tasks are named by slug, with their arguments')
    .option('--json', 'one JSON document')
}

const LIST_EXAMPLES = `
Examples:
  $ troupe task list --env environments/calc/env.ts
  $ troupe task list --tasks environments/calc/tasks.ts`
const START_EXAMPLES = `
Examples:
  $ troupe serve environments/calc/env.ts --port 8765 &
  $ troupe task start fix-calc --args '{"variant": 3}' --url 127.0.0.1:8765
  $ troupe task start 3 --tasks environments/calc/tasks.ts --url 127.0.0.1:8765 --json

With --env instead of --url the environment is served for this one command: the prompt is printed, and the session ends.`
const GRADE_EXAMPLES = `
Examples:
  $ troupe task grade --session sess-1a2b3c4d --answer done --url 127.0.0.1:8765
  $ troupe task grade add --args '{"a": 1, "b": 2}' --answer 3 --env environments/arith/env.ts`

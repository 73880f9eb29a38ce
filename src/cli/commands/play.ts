import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { addRuntimeOptions, type RuntimeArguments } from '../runtime-options.ts'

/** The options of `troupe play` as the action gets them. */
export interface PlayArguments extends RuntimeArguments {
  readonly answer?: string
  readonly json?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('<tasks>', 'tasks.ts, .js, .json, .jsonl, or a directory with one of them')
    .argument('[task]', 'a slug, template id or index (default: the first)')
  addRuntimeOptions(command)
    .option('--answer <text>', 'the answer; without it you are asked when the shell has ended')
    .option('--json', 'print the whole grade as one JSON document; the shell then shows on stderr')
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string, task: string | undefined, options: PlayArguments) => {
      const { playTask } = await import('../play-task.ts')
      await playTask({ tasks, task: task ?? '0' }, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe play environments/calc
  $ troupe play environments/calc variant-07
  $ troupe play environments/calc 3 --answer done < commands.sh

You see what an agent sees: the prompt, and a shell in a workspace of your own. Leave the shell (exit, Ctrl-D) to be graded.
With a file or a pipe on stdin, its lines are the commands.`

import type { Command } from 'commander'
import { toList } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addQuietOption } from '../telling.ts'

/** The options of `troupe sync` as the action gets them. */
export interface SyncArguments {
  readonly to: string
  readonly taskIds?: readonly string[]
  readonly dryRun?: true
  readonly yes?: true
  readonly force?: true
  readonly export?: string
  readonly json?: true
  readonly quiet?: true
}

export function define(command: Command, cli: Cli): void {
  addQuietOption(command)
    .argument('[tasks]', 'tasks.ts, .js, .json, .jsonl, or a directory with one of them')
    .requiredOption('--to <taskset>', "the name or id of a taskset of HUD's platform; a name that is not there is made")
    .option('--task-ids <list>', 'only these: slugs, template ids, indices or ranges (0-15)', toList)
    .option('--dry-run', 'print the plan and change nothing')
    .option('-y, --yes', 'do not ask; needed where there is no terminal to ask at')
    .option('--force', 'send every task, whether it has changed or not')
    .option('--export <file>', 'write the rows that are there to a .json, .jsonl or .csv file instead')
    .option('--json', 'print the plan and what came of it as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string | undefined, options: SyncArguments) => {
      const { runSync } = await import('../run-sync.ts')
      await runSync(tasks, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe sync environments/calc --to calc --dry-run
  $ troupe sync environments/calc --to calc --yes
  $ troupe sync tasks.jsonl --to calc --task-ids 0-15
  $ troupe sync --to calc --export calc.jsonl
  $ troupe eval hud:calc environments/calc/repairer.ts --env environments/calc/env.ts --all

Tasks that are there and not here stay: nothing is deleted. HUD_API_KEY is the key; HUD_API_URL names another server with the same routes.
Exit status: 0 it is as the plan says, or the plan was printed; 2 bad input, or the platform refused; 130 not confirmed.`

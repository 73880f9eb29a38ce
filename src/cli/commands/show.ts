import type { Command } from 'commander'
import type { Cli } from '../cli.ts'

/** The options of `troupe show` as the action gets them. */
export interface ShowArguments {
  readonly journal: string
  readonly json?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('<run>', "a run's id or the beginning of it")
    .option('--journal <dir>', 'the journal to read', '.troupe/journal')
    .option('--json', 'the whole run as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (run: string, options: ShowArguments) => {
      const { showRun } = await import('../show-run.ts')
      await showRun(run, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe show run-0123456789abcdef
  $ troupe show run-0123 --json | jq .grade`

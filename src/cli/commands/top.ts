import type { Command } from 'commander'
import type { Cli } from '../cli.ts'

/** The options of `troupe top` as the action gets them. */
export interface TopArguments {
  readonly job?: string
  readonly once?: true
  readonly json?: true
}

const DEFAULT_JOURNAL = '.troupe/journal'

export function define(command: Command, cli: Cli): void {
  command
    .argument('[where]', "the engine's journal, or the address that its dashboard printed", DEFAULT_JOURNAL)
    .option(
      '--job <job>',
      "of a journal: a job's id or the beginning of it (default: the one that runs, or the newest)",
    )
    .option('--once', 'print how it stands now, and end')
    .option('--json', 'print how it stands now as one JSON document, and end')
    .addHelpText('after', EXAMPLES)
    .action(async (where: string, options: TopArguments) => {
      const { runTop } = await import('../run-top.ts')
      await runTop(where, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe top
  $ troupe top results/journal --job job-1a2b3c4d
  $ troupe top http://127.0.0.1:4310
  $ troupe top --once
  $ troupe top --json | jq '.live | length'

Keys: q quits, tab and 0 to 4 choose the list that has the room, s how rollouts are sorted. Where stdout is no terminal it prints once.
Exit status: 0 it was shown, 2 there is nothing to show, or nobody could be reached any more, 130 a signal ended it.`

import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type ListenAt, toListenAt } from '../observe-options.ts'

/** The options of `troupe dashboard` as the action gets them. */
export interface DashboardArguments {
  readonly job?: string
  readonly port: ListenAt
  readonly receipts: readonly string[]
  readonly base?: string
}

export const DEFAULT_JOURNAL = '.troupe/journal'

export function define(command: Command, cli: Cli): void {
  command
    .argument('[journal]', "the journal's directory: of a job that runs, or of one that has ended", DEFAULT_JOURNAL)
    .option('--job <id>', "a job's id or the beginning of it (default: the one that runs, or the newest)")
    .option('--port <port>', 'where to serve: PORT of loopback, or HOST:PORT, which wants a token', toListenAt, {
      host: '127.0.0.1',
      port: 0,
    })
    .option('--receipts <dir>', 'show the ladder receipts in this directory, too; may be repeated', collect, [])
    .option('--base <file>', 'the policy whose tokens the runs have, to show their texts')
    .addHelpText('after', EXAMPLES)
    .action(async (journal: string, options: DashboardArguments) => {
      const { runDashboard } = await import('../run-dashboard.ts')
      await runDashboard(journal, options, cli)
    })
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value]
}

const EXAMPLES = `
Examples:
  $ troupe dashboard
  $ troupe dashboard results/journal --job job-1a2b --port 4310
  $ troupe dashboard --receipts ladders --base environments/calc/policy.base
  $ troupe dashboard --port 0.0.0.0:4310    # prints an address with a token

Serves a page that shows the job, and prints its address on stdout. A job that runs is shown live, by what its engine tells; else by what its journal has and gets.
The page can change nothing. TROUPE_DASHBOARD_TOKEN, where it is set, is the token that is wanted. Ctrl-C ends it.`

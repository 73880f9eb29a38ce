import type { Command } from 'commander'
import { wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'

/** The options of `troupe runs` as the action gets them. */
export interface RunsArguments {
  readonly journal: string
  readonly outcome?: string
  readonly task?: string
  readonly limit: number
  readonly json?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('[job]', "a job's id or the beginning of it; without one, the jobs are listed")
    .option('--journal <dir>', 'the journal to read', '.troupe/journal')
    .option('--outcome <outcome>', 'only runs that ended so: graded, agent-error, infrastructure-error, …')
    .option('--task <slug>', 'only runs of this task: its slug or template id')
    .option('--limit <n>', 'entries at most', wholeNumberFrom(1), 1_000)
    .option('--json', 'one JSON object a line')
    .addHelpText('after', EXAMPLES)
    .action(async (job: string | undefined, options: RunsArguments) => {
      const { listJobs, listRuns } = await import('../list-runs.ts')
      await (job === undefined && options.outcome === undefined && options.task === undefined
        ? listJobs(options, cli)
        : listRuns(job, options, cli))
    })
}

const EXAMPLES = `
Examples:
  $ troupe runs
  $ troupe runs job-1a2b3c4d --outcome infrastructure-error
  $ troupe runs --task fix-calc --json | jq -r .runId`

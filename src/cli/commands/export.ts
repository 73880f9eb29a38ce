import { type Command, Option } from 'commander'
import type { Cli } from '../cli.ts'

/** The options of `troupe export` as the action gets them. */
export interface ExportArguments {
  readonly journal: string
  readonly format: 'jsonl' | 'parquet'
  readonly out?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('[job]', "a job's id or the beginning of it (default: the newest)")
    .addOption(new Option('--format <format>', 'one row a run').choices(['jsonl', 'parquet']).default('jsonl'))
    .option('--out <file>', 'the file to write (default: stdout)')
    .option('--journal <dir>', 'the journal to read', '.troupe/journal')
    .addHelpText('after', EXAMPLES)
    .action(async (job: string | undefined, options: ExportArguments) => {
      const { exportJob } = await import('../export-job.ts')
      await exportJob(job, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe export --out runs.jsonl
  $ troupe export job-1a2b3c4d --format parquet --out runs.parquet
  $ troupe export | jq -r 'select(.reward == 1) | .run_id'`

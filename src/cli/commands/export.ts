import { type Command, Option } from 'commander'
import type { ExportShapeName } from '../../journal/export/shape.ts'
import type { Cli } from '../cli.ts'
import { addQuietOption } from '../telling.ts'

/** The options of `troupe export` as the action gets them. */
export interface ExportArguments {
  readonly journal: string
  readonly format: 'jsonl' | 'parquet'
  readonly shape: ExportShapeName
  readonly ungraded?: 'keep' | 'leave-out'
  readonly evaluations?: 'keep' | 'leave-out'
  readonly mergeTurns?: true
  readonly out?: string
  readonly quiet?: true
}

export function define(command: Command, cli: Cli): void {
  addQuietOption(command)
    .argument('[job]', "a job's id or the beginning of it (default: the newest)")
    .addOption(new Option('--format <format>', 'JSON lines or Parquet').choices(['jsonl', 'parquet']).default('jsonl'))
    .addOption(
      new Option(
        '--shape <shape>',
        'a row is a run, a conversation, a sample of tokens, or a better and a worse attempt',
      )
        .choices(['runs', 'messages', 'tokens', 'preferences'])
        .default('runs'),
    )
    .option(
      '--merge-turns',
      'of tokens: one sample for turns that go on from each other, with what stands between masked',
    )
    .addOption(
      new Option(
        '--ungraded <what>',
        'runs without a reward (default: runs keeps them with null, the others do not)',
      ).choices(['keep', 'leave-out']),
    )
    .addOption(
      new Option(
        '--evaluations <what>',
        'groups that only measured (default: runs keeps them, the others do not)',
      ).choices(['keep', 'leave-out']),
    )
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
  $ troupe export --shape messages --out conversations.jsonl
  $ troupe export --shape tokens --merge-turns --format parquet --out samples.parquet
  $ troupe export | jq -r 'select(.reward == 1) | .run_id'`

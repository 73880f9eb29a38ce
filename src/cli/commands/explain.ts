import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { addQuietOption } from '../telling.ts'

/** The options of `troupe explain` as the action gets them. */
export interface ExplainArguments {
  readonly journal: string
  readonly step?: string
  readonly out?: string
  readonly json?: true
  readonly quiet?: true
}

export function define(command: Command, cli: Cli): void {
  addQuietOption(command)
    .argument('[job]', "a job's id or the beginning of it (default: the newest)")
    .option('--step <which>', 'the step to explain: 3, or an evaluation such as held-out@10 (default: the longest)')
    .option('--out <file>', 'draw that step as SVG: lanes of its rollouts by phase, the trainer below')
    .option('--journal <dir>', 'the journal to read', '.troupe/journal')
    .option('--json', 'one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (job: string | undefined, options: ExplainArguments) => {
      const { runExplain } = await import('../run-explain.ts')
      await runExplain(job, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe explain
  $ troupe explain job-1a2b3c4d --step 3 --out step.svg
  $ troupe explain --step held-out@10
  $ troupe explain --json | jq '.step.suggestions[].text'`

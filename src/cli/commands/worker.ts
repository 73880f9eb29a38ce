import type { Command } from 'commander'
import { positiveNumber, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'

/** The options of `troupe worker` as the action gets them. */
export interface WorkerArguments {
  readonly nats: string
  readonly threads?: number
  readonly maxConcurrent: number
  readonly maxSandboxes?: number
  /** Seconds. */
  readonly drain: number
}

export function define(command: Command, cli: Cli): void {
  command
    .requiredOption('--nats <url>', 'nats://HOST:PORT or tls://HOST:PORT, several with a comma between them')
    .option('--threads <n>', 'worker threads; 0 runs all in the main thread', wholeNumberFrom(0))
    .option('--max-concurrent <n>', 'rollouts in flight here at most, over all jobs', wholeNumberFrom(1), 128)
    .option(
      '--max-sandboxes <n>',
      'sandboxes that may exist here at once, for each job (default: what the pool needs)',
      wholeNumberFrom(1),
    )
    .option(
      '--drain <seconds>',
      'after SIGTERM, rollouts have so long before others go on with them',
      positiveNumber,
      60,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: WorkerArguments) => {
      const { runWorker } = await import('../run-worker.ts')
      await runWorker(options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe worker --nats nats://10.0.0.1:4222
  $ troupe worker --nats nats://10.0.0.1:4222,nats://10.0.0.2:4222 --max-concurrent 512 --threads 8
  $ troupe eval environments/calc environments/calc/repairer.ts --all --cluster nats://10.0.0.1:4222

It works for every job that is started with --cluster at the same server, where the same files lie below the working directory.
SIGTERM or Ctrl-C: nothing new is taken, and what is under way ends or is handed back. Twice ends it at once.
Exit status: 0 it has drained, 2 the server cannot be used, 130 ended at once.`

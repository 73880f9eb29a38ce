import { type Command, Option } from 'commander'
import type { JobOptions } from '../job/job.ts'
import type { PoolOptions } from '../job/options.ts'
import { type DeadlineArgument, wholeNumberFrom } from './arguments.ts'
import { COLD, POOL_GRAMMAR, type PoolArgument, toPool } from './pool-argument.ts'
import { chooseReporter } from './report-options.ts'

/** Options that mean the same in every command that rolls out. */
export interface RolloutArguments extends PoolArguments {
  readonly maxConcurrent: number
  readonly threads?: number
  readonly seed?: number
  /** False after `--no-journal`. */
  readonly journal: string | false
  readonly retries: number
  readonly deadline?: DeadlineArgument
  /** False after `--no-report`; absent for commands that never report. */
  readonly report?: boolean
}

export interface PoolArguments {
  readonly pool: PoolArgument
  readonly maxSandboxes?: number
}

export function addPoolOptions(command: Command): Command {
  return command
    .addOption(new Option('--pool <what>', POOL_GRAMMAR).argParser(toPool).default(COLD, 'cold'))
    .option(
      '--max-sandboxes <n>',
      'sandboxes that may exist at once (default: what the pool needs)',
      wholeNumberFrom(1),
    )
}

/** The job of such a command, but for what makes it this one: its settings, group and runtime. */
export function toJobDefaults(options: RolloutArguments): JobOptions {
  const { seed, threads, deadline, journal } = options
  return {
    maxConcurrent: options.maxConcurrent,
    retries: options.retries,
    pool: toPoolOptions(options),
    ...(seed === undefined ? {} : { seed }),
    ...(threads === undefined ? {} : { threads }),
    ...(deadline === undefined ? {} : { deadlines: deadline }),
    ...(journal === false ? {} : { journal }),
    ...chooseReporter(options.report),
  }
}

function toPoolOptions({ pool, maxSandboxes }: PoolArguments): PoolOptions {
  return { ...pool, ...(maxSandboxes === undefined ? {} : { maxSandboxes }) }
}

import type { JobOptions } from '../job/job.ts'
import type { DeadlineArgument, PoolArgument } from './arguments.ts'

/** Options that mean the same in every command that rolls out. */
export interface RolloutArguments {
  readonly maxConcurrent: number
  readonly threads?: number
  readonly pool: PoolArgument
  readonly seed?: number
  /** False after `--no-journal`. */
  readonly journal: string | false
  readonly retries: number
  readonly deadline?: DeadlineArgument
}

/** The job of such a command, but for what makes it this one: its settings, group and runtime. */
export function toJobDefaults(options: RolloutArguments): JobOptions {
  const { pool, seed, threads, deadline, journal } = options
  return {
    maxConcurrent: options.maxConcurrent,
    retries: options.retries,
    pool: pool === 'cold' ? { strategy: 'cold', size: 0 } : { strategy: 'prewarm', size: pool },
    ...(seed === undefined ? {} : { seed }),
    ...(threads === undefined ? {} : { threads }),
    ...(deadline === undefined ? {} : { deadlines: deadline }),
    ...(journal === false ? {} : { journal }),
  }
}

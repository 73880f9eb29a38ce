import { availableParallelism } from 'node:os'
import { systemClock } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import { randomIds } from '../ids.ts'
import type { Deadlines, EngineOptions, PoolOptions } from '../job/options.ts'
import { withDefaultDeadlines } from '../rollout/deadlines.ts'

/** Engine options with every default filled in. */
export type EngineSettings = Required<Omit<EngineOptions, 'journal' | 'pool' | 'deadlines' | 'threadHeapBytes'>> & {
  readonly threadHeapBytes: number | undefined
  readonly pool: Required<PoolOptions>
  readonly deadlines: Deadlines
}

const MIB = 1024 * 1024
const MAX_DEFAULT_THREADS = 4

/** Throws `bad-option` naming every option that cannot be used, before anything is started. */
export function toEngineSettings(options: EngineOptions): EngineSettings {
  const maxConcurrent = options.maxConcurrent ?? 128
  const pool = options.pool ?? { strategy: 'cold', size: 0 }
  // `auto` may want as many ready as are in use.
  const size = pool.size === 'auto' ? maxConcurrent : pool.size
  const prewarmed = pool.strategy === 'prewarm' ? size : 0
  const settings: EngineSettings = {
    runtime: options.runtime,
    threads: options.threads ?? Math.min(MAX_DEFAULT_THREADS, Math.max(1, availableParallelism() - 1)),
    threadHangMs: options.threadHangMs ?? 10_000,
    threadHeapBytes: options.threadHeapBytes,
    pool: { source: { type: 'create' }, ...pool, maxSandboxes: pool.maxSandboxes ?? maxConcurrent + prewarmed },
    maxConcurrent,
    connections: options.connections ?? 'shared',
    deadlines: withDefaultDeadlines(options.deadlines),
    retries: options.retries ?? 2,
    groupStrategy: options.groupStrategy ?? { type: 'complete' },
    deadGroupLimit: options.deadGroupLimit ?? 8,
    maxWaitingBytes: options.maxWaitingBytes ?? 256 * MIB,
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
  }
  const problems = [
    ...wholeNumber('threads', settings.threads, 0),
    ...wholeNumber('threadHangMs', settings.threadHangMs, 1),
    ...(settings.threadHeapBytes === undefined
      ? []
      : wholeNumber('threadHeapBytes', settings.threadHeapBytes, 16 * MIB)),
    ...wholeNumber('maxConcurrent', settings.maxConcurrent, 1),
    ...wholeNumber('retries', settings.retries, 0),
    ...wholeNumber('deadGroupLimit', settings.deadGroupLimit, 1),
    ...wholeNumber('maxWaitingBytes', settings.maxWaitingBytes, 1),
    ...wholeNumber('pool.maxSandboxes', settings.pool.maxSandboxes, 1),
    ...(settings.pool.size === 'auto' ? [] : wholeNumber('pool.size', settings.pool.size, 0)),
    ...(settings.groupStrategy.type === 'minimum'
      ? wholeNumber('groupStrategy.members', settings.groupStrategy.members, 1)
      : []),
    ...Object.entries(settings.deadlines).flatMap(([phase, ms]) =>
      ms > 0 ? [] : [`deadlines.${phase} is ${ms}, not above 0 ms`],
    ),
  ]
  if (problems.length > 0)
    throw new TroupeError({
      tag: 'bad-option',
      message: `cannot start the engine: ${problems.join('; ')}`,
      details: { problems },
    })
  return settings
}

function wholeNumber(name: string, value: number, least: number): string[] {
  return Number.isInteger(value) && value >= least ? [] : [`${name} is ${value}, not a whole number from ${least} up`]
}

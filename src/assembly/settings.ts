import { availableParallelism } from 'node:os'
import { systemClock } from '../clock.ts'
import type { ClusterOptions } from '../cluster/options.ts'
import { TroupeError } from '../errors.ts'
import { randomIds } from '../ids.ts'
import type { Deadlines, EngineOptions, PoolOptions, PoolSource } from '../job/options.ts'
import { DEFAULT_PARENTS, lacksSource } from '../pool/source.ts'
import { withDefaultDeadlines } from '../rollout/deadlines.ts'
import type { ProvisionPlan, Runtime } from '../runtimes/runtime.ts'

/** Engine options with every default filled in. */
export type EngineSettings = Required<
  Omit<EngineOptions, 'journal' | 'pool' | 'deadlines' | 'threadHeapBytes' | 'cluster'>
> & {
  readonly threadHeapBytes: number | undefined
  readonly cluster: ClusterOptions | undefined
  readonly pool: Required<PoolOptions>
  readonly deadlines: Deadlines
}

const MIB = 1024 * 1024
const MAX_DEFAULT_THREADS = 4
/** What a timer can count, 24 days. One that is set for longer, or for ever, fires at once. */
const LONGEST_MS = 2 ** 31 - 1
/** At 512 a measured provider failed one create in a hundred. */
const DEFAULT_WAVE = 256
/** Half of it is how long a worker and its coordinator may not hear of each other: a busy machine takes some of that. */
const SHORTEST_REDELIVER_MS = 1_000

/** Throws `bad-option` naming every option that cannot be used, before anything is started. */
export function toEngineSettings(options: EngineOptions): EngineSettings {
  const maxConcurrent = options.maxConcurrent ?? 128
  const pool = options.pool ?? { strategy: 'cold', size: 0 }
  // `auto` may want as many ready as are in use.
  const size = pool.size === 'auto' ? maxConcurrent : pool.size
  const prewarmed = pool.strategy === 'prewarm' ? size : 0
  const source = withDefaultSizes(pool.source ?? { type: 'create' }, options.runtime, prewarmed || maxConcurrent)
  const parents =
    source.type === 'fork' ? (source.parents ?? DEFAULT_PARENTS) : source.type === 'auto' ? DEFAULT_PARENTS : 0
  const settings: EngineSettings = {
    runtime: options.runtime,
    threads: options.threads ?? Math.min(MAX_DEFAULT_THREADS, Math.max(1, availableParallelism() - 1)),
    threadHangMs: options.threadHangMs ?? 10_000,
    threadHeapBytes: options.threadHeapBytes,
    pool: {
      ...pool,
      source,
      maxSandboxes: pool.maxSandboxes ?? maxConcurrent + prewarmed + parents,
      wave: pool.wave ?? DEFAULT_WAVE,
    },
    maxConcurrent,
    connections: options.connections ?? 'shared',
    deadlines: withDefaultDeadlines(options.deadlines),
    retries: options.retries ?? 2,
    groupStrategy: options.groupStrategy ?? { type: 'complete' },
    deadGroupLimit: options.deadGroupLimit ?? 8,
    maxWaitingBytes: options.maxWaitingBytes ?? 256 * MIB,
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    cluster: options.cluster,
  }
  const problems = [
    ...wholeNumber('threads', settings.threads, settings.cluster === undefined ? 0 : 1),
    ...(settings.cluster?.redeliverMs === undefined
      ? []
      : wholeNumber('cluster.redeliverMs', settings.cluster.redeliverMs, SHORTEST_REDELIVER_MS)),
    ...wholeNumber('threadHangMs', settings.threadHangMs, 1),
    ...(settings.threadHeapBytes === undefined
      ? []
      : wholeNumber('threadHeapBytes', settings.threadHeapBytes, 16 * MIB)),
    ...wholeNumber('maxConcurrent', settings.maxConcurrent, 1),
    ...wholeNumber('retries', settings.retries, 0),
    ...wholeNumber('deadGroupLimit', settings.deadGroupLimit, 1),
    ...wholeNumber('maxWaitingBytes', settings.maxWaitingBytes, 1),
    ...wholeNumber('pool.maxSandboxes', settings.pool.maxSandboxes, 1),
    ...wholeNumber('pool.wave', settings.pool.wave, 1),
    ...(settings.pool.size === 'auto' ? [] : wholeNumber('pool.size', settings.pool.size, 0)),
    ...sourceProblems(pool.source, settings),
    ...(settings.pool.strategy === 'prewarm' && settings.runtime.prewarms === false
      ? [`pool.strategy is prewarm, but the ${settings.runtime.name} runtime makes each sandbox for its task`]
      : []),
    ...(settings.groupStrategy.type === 'minimum'
      ? wholeNumber('groupStrategy.members', settings.groupStrategy.members, 1)
      : []),
    ...Object.entries(settings.deadlines).flatMap(([phase, ms]) =>
      ms > 0 && ms <= LONGEST_MS ? [] : [`deadlines.${phase} is ${ms}, not above 0 and up to ${LONGEST_MS} ms`],
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

/** What these settings may ask of the runtime, for its preflight. No run has more than one sandbox at a time, however wide the engine may be. */
export function toProvisionPlan({ pool }: EngineSettings, runs: number = Number.POSITIVE_INFINITY): ProvisionPlan {
  const kept = pool.source.type === 'fork' ? (pool.source.parents ?? DEFAULT_PARENTS) : 0
  const providerPool = pool.source.type === 'provider-pool' ? (pool.source.size ?? 0) : 0
  return { sandboxes: Math.min(pool.maxSandboxes, runs + kept) + providerPool, providerPool: providerPool > 0 }
}

/** `auto` becomes what the runtime has, but stays `auto` where forks may yet turn out not to work. */
function withDefaultSizes(source: PoolSource, runtime: Runtime, size: number): PoolSource {
  if (source.type === 'provider-pool') return { type: 'provider-pool', size: source.size ?? size }
  if (source.type === 'fork') return { type: 'fork', parents: source.parents ?? DEFAULT_PARENTS }
  return source.type === 'auto' && runtime.forks !== true ? { type: 'create' } : source
}

function sourceProblems(asked: PoolSource | undefined, { runtime, pool }: EngineSettings): string[] {
  const { source, maxSandboxes } = pool
  const lack = asked && lacksSource(asked, runtime)
  if (lack !== undefined) return [lack]
  if (source.type === 'provider-pool') return wholeNumber('pool.source.size', source.size ?? 1, 1)
  if (source.type !== 'fork') return []
  const parents = source.parents ?? DEFAULT_PARENTS
  return [
    ...wholeNumber('pool.source.parents', parents, 1),
    ...(maxSandboxes <= parents
      ? [
          `pool.maxSandboxes is ${maxSandboxes}, which leaves no room beside the ${parents} parents that are kept for forks`,
        ]
      : []),
  ]
}

function wholeNumber(name: string, value: number, least: number): string[] {
  return Number.isInteger(value) && value >= least ? [] : [`${name} is ${value}, not a whole number from ${least} up`]
}

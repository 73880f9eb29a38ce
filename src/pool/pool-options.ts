import type { ErrorData } from '../errors.ts'
import type { IdSource } from '../ids.ts'
import type { PoolOptions } from '../job/options.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { Rate } from '../runtimes/token-bucket.ts'
import type { BreakerLimits } from './breaker.ts'
import type { PoolConfig } from './pool-state.ts'
import { planSource } from './source.ts'

/** How a sandbox-pool actor is made. */
export interface SandboxPoolOptions {
  readonly runtime: Runtime
  readonly pool: PoolOptions
  /** Sandboxes at most: creating, live and deleting together, and those that would not die. */
  readonly maxSandboxes: number
  /** On every sandbox from its create on: `job`, `owner` and what else tells whose it is. */
  readonly labels: Readonly<Record<string, string>>
  readonly ids: IdSource
  /** Creates in flight at most. Default 256: at 512 a measured provider failed one create in a hundred. */
  readonly wave?: number
  /** Creates in flight at most while there is nothing to fork. Default 32: so many at once a measured provider makes as fast as a few. */
  readonly seeds?: number
  /** The rate of creates, where the runtime knows none of its account's. Default: no limit. */
  readonly createRate?: Rate
  /** Creates sent again for one request after a transient error. Default 2. */
  readonly createRetries?: number
  /** Default: 8 failures in a row, or a quarter of the creates in flight if that is more; 10 s. */
  readonly breaker?: BreakerLimits
  /** For one create, until its sandbox is ready. Default 120,000. */
  readonly provisionDeadlineMs?: number
  /** For one delete, and for a create that was called off to end. Default 10,000. */
  readonly disposeDeadlineMs?: number
  /** Deletes sent for one sandbox before it is quarantined. Default 3. */
  readonly disposeAttempts?: number
  /** Requests that may wait. Default 10,000. */
  readonly maxWaiting?: number
  /** Above the longest rollout. Each sandbox is labelled with its `expiry`, so that one left behind can be told. Default 6 hours. */
  readonly lifetimeMs?: number
  /** Told of each sandbox that would not die, and of a source that is not to be had. */
  readonly report?: (error: ErrorData) => void
}

/** The pool's settings, with every default filled in. */
export function toPoolConfig(options: SandboxPoolOptions): PoolConfig {
  return {
    runtime: options.runtime.name,
    strategy: options.pool.strategy,
    size: options.pool.size,
    source: planSource(options.pool.source ?? { type: 'create' }, options.runtime, options.maxSandboxes),
    maxSandboxes: options.maxSandboxes,
    maxWaiting: options.maxWaiting ?? 10_000,
    wave: options.wave ?? 256,
    seeds: options.seeds ?? 32,
    creates: options.runtime.creates,
    createRate: options.createRate,
    createRetries: options.createRetries ?? 2,
    backoff: { baseMs: 250, maxMs: 10_000 },
    breaker: options.breaker ?? { failures: 8, cooldownMs: 10_000 },
    disposeAttempts: options.disposeAttempts ?? 3,
    idPrefix: `sandbox-${options.ids.hex(6)}`,
  }
}

import type { Clock } from '../clock.ts'
import type { ClusterOptions } from '../cluster/options.ts'
import type { IdSource } from '../ids.ts'
import type { GroupStrategy } from '../rollout/group.ts'
import type { Phase } from '../rollout/run.ts'
import type { Runtime } from '../runtimes/runtime.ts'

/**
 * Where sandboxes come from. `create`: each is made anew. `provider-pool`: claimed from one that the provider keeps warm, `size` wide (default: the
 * pool's size, or `maxConcurrent`). `fork`: from `parents` running ones that are kept for it (default 4), and from what they bore as long as nobody
 * uses it. `auto`: forks where the runtime has them and they work, else creates.
 */
export type PoolSource =
  | { readonly type: 'create' }
  | { readonly type: 'provider-pool'; readonly size?: number }
  | { readonly type: 'fork'; readonly parents?: number }
  | { readonly type: 'auto' }

/** How sandboxes are kept ready, and where they come from. */
export interface PoolOptions {
  readonly strategy: 'cold' | 'prewarm'
  /** Prewarmed sandboxes to hold ready; `auto` follows measured demand and refill time. Not used when cold. */
  readonly size: number | 'auto'
  /** Default: `create`. */
  readonly source?: PoolSource
  /** Sandboxes at most: creating, live and deleting together. Default: `maxConcurrent`, plus the pool's size, plus the parents kept for forks. */
  readonly maxSandboxes?: number
  /** Creates in flight at most. Default 256. */
  readonly wave?: number
}

/** Milliseconds allowed for each phase, and for a whole rollout with its retries apart. */
export type Deadlines = Readonly<Record<Phase | 'rollout', number>>

/** How an engine is built: what lasts from one run of a job to the next. */
export interface EngineOptions {
  readonly runtime: Runtime
  /** Worker threads that host rollout groups; 0 runs everything in the calling thread. Default: one less than the cores, 1 to 4. */
  readonly threads?: number
  /** Without a sign of life for that long a thread counts as hung and is replaced; its groups go on in another. Default 10,000. */
  readonly threadHangMs?: number
  /** Heap of one thread at most; one that needs more is replaced like one that hung. Default: what Node gives it. */
  readonly threadHeapBytes?: number
  readonly pool?: PoolOptions
  /** Rollouts in flight at most. Default 128. */
  readonly maxConcurrent?: number
  /** `shared`: sessions with our own servers share a few connections a thread. `each`: one connection a session. Default `shared`. */
  readonly connections?: 'shared' | 'each'
  /** The journal's directory. Absent: nothing is written, and finished runs stay in memory for the job's life. */
  readonly journal?: string
  readonly deadlines?: Partial<Deadlines>
  /** Fresh sandboxes tried after a transient infrastructure error, per member. Default 2. */
  readonly retries?: number
  readonly groupStrategy?: GroupStrategy
  /** Groups in a row without one graded member that stop the run. Default 8. */
  readonly deadGroupLimit?: number
  /** Packed bytes of finished groups that may wait for the consumer before no new group is started. Default 256 MiB. */
  readonly maxWaitingBytes?: number
  /**
   * Rollouts run on the workers that find the job there (`troupe worker`), each with threads, a pool and sandboxes of its own; `threads` means nothing then. `runtime` is what
   * tasks are checked against here. All runs of a job have the same settings then. Absent: everything runs on this machine.
   */
  readonly cluster?: ClusterOptions
  readonly clock?: Clock
  readonly ids?: IdSource
}

/** Options of one run of a taskset. */
export interface RunOptions extends Partial<EngineOptions> {
  /** Attempts at each task, compared with each other. Default 1. */
  readonly group?: number
  /** Seeds the order of the groups and every agent. Default: drawn, and told in the job's record. */
  readonly seed?: number
  /**
   * Which step of its job this is. Default: one more than the last that was not named. A job that may be resumed out of the order
   * in which it began its steps names each of them. A step that was run before gives the groups that it has, as after a restart, and runs those that it
   * lacks; while it is still being run, a run with the same tasks is refused with `step-running`.
   */
  readonly step?: number
  /** Another go at some tasks within the same step: its groups have ids and seeds of their own. Default 0. */
  readonly round?: number
  /** Ends the run in order: groups in flight are cancelled, what is durable stays. */
  readonly signal?: AbortSignal
}

/** The words of the ladder: a cell is one strategy at one width, a level is one repetition of it. */
import type { ErrorData } from '../errors.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'

/** Where sandboxes come from, one at a time; what a pool's plan combines is measured apart. */
export const STRATEGIES = ['cold', 'provider-pool', 'prewarm', 'fork'] as const
export type Strategy = (typeof STRATEGIES)[number]

/**
 * What is done with each sandbox. `infra`: acquired, connected to, `hello` answered, given back. `rollout`: a whole rollout by the engine, its agent and
 * grader included.
 */
export const WORKS = ['infra', 'rollout'] as const
export type Work = (typeof WORKS)[number]

export interface Cell {
  /** A `Strategy`, or what another client is called by whoever brought it. */
  readonly strategy: string
  readonly work: Work
  /** Sandboxes asked for at once. */
  readonly width: number
  /** Held ready by `prewarm` and `provider-pool`. Default: the width. */
  readonly size?: number
  /** Held to be forked by `fork`. Default 4, and never more than the width. */
  readonly parents?: number
  /** That may exist at once. Default: no more than the strategy needs, so that nothing is made anew before something is given back. */
  readonly maxSandboxes?: number
}

/** One sandbox that became usable. Milliseconds from when it was asked for. */
export interface Sample {
  /** The pool's own name for it; empty where it is not told. */
  readonly sandbox: string
  /** When it was asked for: milliseconds since 1970, with fractions. */
  readonly askedAtMs: number
  /** When each stage was over, in the order of the stages: `lease`, `hello`, and after these, of a rollout, `start`, `agent`, `grade`. */
  readonly stages: Readonly<Record<string, number>>
  /** When `hello` was answered. */
  readonly usableMs: number
  readonly kind: LeaseKind
}

/** What a pool said that it held, at one moment. Milliseconds from when what is being measured began. */
export interface PoolMoment {
  readonly atMs: number
  readonly ready: number
  readonly creating: number
  readonly leased: number
  readonly deleting: number
  /** Sandboxes kept to be forked. */
  readonly parents: number
  /** In the provider's own pool, when it was last counted. */
  readonly providerReady?: number
}

/** What getting ready took: everything that the cell holds ready was made, and really exists. */
export interface Prepared {
  readonly tookMs: number
  readonly cpuMs: number
  /** Empty where there is no pool. */
  readonly held: readonly PoolMoment[]
}

/** What the client's process measured in one level. */
export interface LevelFigures {
  readonly samples: readonly Sample[]
  readonly failures: readonly ErrorData[]
  /** From the first asking until all were given back. */
  readonly wallMs: number
  /** Of the whole process, giving back included, getting ready not. */
  readonly cpuMs: number
  readonly peakRssBytes: number
  /** RSS before the first was asked for, or made ready. */
  readonly restRssBytes: number
  /** Of the main thread, above the sampling interval, from the first asking until all were usable. */
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** Of creates, those that were tried again included, and of sandboxes that were lost or did not answer: by tag. */
  readonly errors: Readonly<Record<string, number>>
  /** That exist when all were given back, and that nobody keeps on purpose. */
  readonly leaked: number
  /** What the pool says of itself in this level, its getting ready included; absent where there is none. */
  readonly pool?: {
    readonly created: number
    readonly createFailures: number
    /** Sandboxes that it still owns, on purpose. */
    readonly owned: number
  }
  readonly held: readonly PoolMoment[]
}

/** A level as it goes into the receipt. */
export interface Level extends LevelFigures {
  readonly cell: Cell
  readonly repetition: number
  /** How long what is held ready took to be made before this level; 0 where nothing is. */
  readonly fillMs: number
  /** CPU milliseconds of getting ready. */
  readonly fillCpuMs: number
  /** CPU milliseconds of the emulator, where one was started for the ladder. */
  readonly emulatorCpuMs?: number
}

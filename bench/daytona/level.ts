/** The words of the ladder: a cell is one mode at one width, a level is one repetition of it. */
import type { ErrorData } from '../../src/errors.ts'
import type { Transport } from '../../src/runtimes/daytona/options.ts'
import type { LeaseKind } from '../../src/runtimes/runtime.ts'

/** `published` works as the published client did; the others are ours, by where their sandboxes come from. */
export const MODES = ['published', 'cold', 'provider-pool', 'prewarm', 'fork'] as const
export type Mode = (typeof MODES)[number]

export interface Cell {
  readonly mode: Mode
  readonly width: number
  readonly transport: Transport | 'auto'
}

/** One sandbox that became usable. Milliseconds from when it was asked for. */
export interface Sample {
  /** As the client named it at the provider. */
  readonly sandbox: string
  /** When it was asked for: milliseconds since 1970, with fractions. */
  readonly askedAtMs: number
  /** When each stage was over, in the order of the stages. */
  readonly stages: Readonly<Record<string, number>>
  /** When `hello` was answered. */
  readonly usableMs: number
  readonly kind: LeaseKind
}

/** What the client's process measured in one level. */
export interface LevelFigures {
  readonly samples: readonly Sample[]
  readonly failures: readonly ErrorData[]
  /** From the first asking until all were given back. */
  readonly wallMs: number
  /** What was made ready beforehand took so long; 0 where nothing is. */
  readonly fillMs: number
  /** Of the whole process, getting ready and giving back included. */
  readonly cpuMs: number
  readonly peakRssBytes: number
  /** Of the one thread, above the sampling interval, from the first asking until all were usable. */
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** What the pool says of itself; absent in the published client, which has none. */
  readonly pool?: {
    readonly created: number
    readonly createFailures: number
    /** Sandboxes that it still owns, on purpose. */
    readonly held: number
  }
}

/** Milliseconds beyond what the emulator alone took for one sandbox. */
export interface Added {
  /** From asking until usable, less the emulator's own time. */
  readonly totalMs: number
  /** Until the emulator began with it; between the steps that wait for each other; from the end of the last until usable. */
  readonly beforeMs: number
  readonly betweenMs: number
  readonly afterMs: number
}

/** A level as it goes into the receipt: with what the emulator saw of it. */
export interface Level extends LevelFigures {
  readonly cell: Cell
  readonly repetition: number
  /** Sandboxes that existed in the emulator after all were given back, and that nobody keeps on purpose. */
  readonly leaked: number
  readonly emulatorCpuMs: number
  /** Since the level began, members of the provider's pool and forks included. */
  readonly emulatorCreated: number
  /** What our client added to the emulator's own time, a sandbox each; empty where sandboxes were ready before they were asked for. */
  readonly added: readonly Added[]
}

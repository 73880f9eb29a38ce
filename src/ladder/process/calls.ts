/** What the ladder's processes can be asked: the client's, one for each cell, and the emulator's, where the ladder starts one. */
import type { LevelFigures, Prepared } from '../level.ts'

/** Where an emulator is. */
export interface EmulatorPlace {
  readonly url: string
  readonly apiKey: string
  readonly sshPort: number
}

export type EmulatorCalls = {
  place(argument: undefined): Promise<EmulatorPlace>
  /** Since its start. `created` counts members of the provider's pools and forks too. */
  usage(argument: undefined): Promise<{ readonly cpuMs: number; readonly created: number }>
}

export interface MeasureArgument {
  /** Default true. */
  readonly settle?: boolean
}

export type ClientCalls = {
  /** Checks that the cell can be held, makes one sandbox, reaches it and gives it back, uncounted: what is loaded or found out with the first one then has been. */
  'warm-up'(argument: undefined): Promise<void>
  /**
   * Tells the pool that so many more will be asked for, has it make ready what the cell holds ready, and resolves when that really exists. After a level
   * it measures the refill.
   */
  prepare(argument: { readonly demand: number }): Promise<Prepared>
  /**
   * One level: all sandboxes of the cell asked for at once, and given back when all have been usable. Whatever is ready by then, is. With `settle: false` it
   * answers as soon as all are given back, while others are still made and deleted: what has leaked is then not counted, and told as 0.
   */
  measure(argument: MeasureArgument | undefined): Promise<LevelFigures>
}

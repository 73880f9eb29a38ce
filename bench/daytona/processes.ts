/** Both sides' messages: what the emulator's process and a client's process can be asked. */
import { fileURLToPath } from 'node:url'
import type { RateLimits } from '../../src/emulator/throttle.ts'
import { type Child, startChild } from './child.ts'
import type { Cell, LevelFigures } from './level.ts'

export interface EmulatorSettings {
  readonly seed: number
  readonly limits: Partial<RateLimits>
}

/** Where the emulator is. */
export interface EmulatorPlace {
  readonly url: string
  readonly apiKey: string
  readonly sshPort: number
}

export type EmulatorCalls = {
  place(argument: undefined): Promise<EmulatorPlace>
  /** Since its start. `created` counts pool members and forks too. */
  usage(argument: undefined): Promise<{ readonly cpuMs: number; readonly created: number }>
}

export interface ClientSettings {
  readonly cell: Cell
  readonly place: EmulatorPlace
}

export type ClientCalls = {
  /** One sandbox made, reached and given back uncounted: what is loaded or found out with the first one then has been. */
  'warm-up'(argument: undefined): Promise<void>
  /** Makes ready what the mode holds ready; resolves when it really exists, with how long that took. */
  prepare(argument: undefined): Promise<number>
  /** One level: all sandboxes of the cell asked for at once, and given back when all have been usable. */
  measure(argument: undefined): Promise<LevelFigures>
}

export const startEmulatorProcess = (settings: EmulatorSettings): Child<EmulatorCalls> =>
  startChild(fileURLToPath(new URL('./emulator-process.js', import.meta.url)), settings)

export const startClientProcess = (settings: ClientSettings): Child<ClientCalls> =>
  startChild(fileURLToPath(new URL('./client-process.js', import.meta.url)), settings)

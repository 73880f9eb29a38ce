import type { Cell } from './level.ts'
import type { ClientCalls, EmulatorPlace } from './process/calls.ts'
import type { Child } from './process/child.ts'

/** What a ladder, or another measurement of the same kind, is given to work with. */
export interface LadderPorts {
  /** Starts the process that will be a cell's client. `place` is the emulator that was started for it, if any. */
  startClient(cell: Cell, place: EmulatorPlace | undefined): Child<ClientCalls>
  /** Absent: no emulator is started, and sandboxes come from where the client's runtime says. */
  readonly emulator?: EmulatorSettings
  /** Aborts when the user wants no more: what is done is kept. */
  readonly signal: AbortSignal
  /** A line for people who wait. */
  say(line: string): void
}

export interface EmulatorSettings {
  readonly seed: number
  readonly speed: number
  /** What its sandboxes serve. */
  readonly environmentPath: string
}

import type { Clock } from '../clock.ts'
import type { LocalWorkspaceHost } from '../environment/workspace/index.ts'
import type { IdSource } from '../ids.ts'
import type { Faults } from './faults.ts'
import type { Latency } from './latency.ts'
import type { Resources, SandboxRecord, SandboxState } from './sandbox.ts'
import type { Servers } from './servers.ts'
import type { Timelines } from './timeline.ts'

/** What the account may use at once. */
export type Quota = Resources

/** Told of what happens to sandboxes. */
export interface Events {
  created(record: SandboxRecord): void
  changed(record: SandboxRecord, oldState: SandboxState): void
}

/** What the parts of the emulator share. */
export interface Context {
  /** The emulated time, faster than `wall`. */
  readonly clock: Clock
  /** The time of the people and programs outside: their intervals and limits in minutes are not shortened. */
  readonly wall: Clock
  readonly latency: Latency
  readonly timelines: Timelines
  readonly faults: Faults
  readonly random: () => number
  readonly ids: IdSource
  readonly regions: readonly string[]
  readonly quota: Quota
  readonly servers: Servers
  readonly workspaces: LocalWorkspaceHost
  /** Aborts when the emulator closes. */
  readonly signal: AbortSignal
  readonly events: Events
  /** Runs what no call waits for. It may reject when the emulator closes; anything else is reported. */
  background(work: Promise<unknown>): void
}

/** A random id in the form of a UUID, version 4. */
export function makeUuid(ids: IdSource): string {
  const hex = ids.hex(16)
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

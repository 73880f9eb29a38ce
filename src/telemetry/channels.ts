import { channel } from 'node:diagnostics_channel'
import type { ErrorData } from '../errors.ts'

/**
 * What the library has to say without being asked: it prints nothing by itself. Subscribe with `node:diagnostics_channel`; each
 * message is `ErrorData`. The channels: `troupe:sandbox` (a sandbox that will not go), `troupe:actor` (an actor that failed, and
 * what its parent did), `troupe:dead-letter` (a message nobody could receive), `troupe:training` (a body that had to be split, a batch
 * without a gradient).
 */
export const CHANNELS = {
  sandbox: 'troupe:sandbox',
  actor: 'troupe:actor',
  deadLetter: 'troupe:dead-letter',
  training: 'troupe:training',
} as const

/** Costs next to nothing while nobody listens. */
export function publish(name: keyof typeof CHANNELS, data: ErrorData): void {
  const target = channel(CHANNELS[name])
  if (target.hasSubscribers) target.publish(data)
}

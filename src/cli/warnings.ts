import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'
import { CHANNELS } from '../telemetry/channels.ts'
import type { Console } from './console.ts'

/** Says on stderr what the library only publishes: sandboxes that will not go, and actors that failed. Returns how to stop. */
export function showWarnings(console: Console): () => void {
  const warn = (message: unknown) => console.talk(`warning: ${toWarning(message).message}`)
  const names = [CHANNELS.sandbox, CHANNELS.actor]
  for (const name of names) subscribe(name, warn)
  return () => {
    for (const name of names) unsubscribe(name, warn)
  }
}

/** A channel's messages are untyped: what is no error data is shown as it is. */
function toWarning(message: unknown): ErrorData {
  const isData = typeof message === 'object' && message !== null && 'tag' in message && 'message' in message
  return isData ? toErrorData(new TroupeError(message as ErrorData)) : toErrorData(message)
}

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'
import { CHANNELS } from '../telemetry/channels.ts'
import type { Console } from './console.ts'

/** Says on stderr what the library only publishes: sandboxes that will not go, actors that failed, workers that are lost, reports that do not arrive. Returns how to stop. */
export function showWarnings(console: Pick<Console, 'need'>): () => void {
  const warn = (message: unknown) => console.need(`warning: ${toWarning(message).message}`)
  const names = [CHANNELS.sandbox, CHANNELS.actor, CHANNELS.cluster]
  const warnOfReport = (message: unknown) => {
    if (typeof message === 'object' && message !== null && 'error' in message) warn(message.error)
  }
  for (const name of names) subscribe(name, warn)
  subscribe(CHANNELS.report, warnOfReport)
  return () => {
    for (const name of names) unsubscribe(name, warn)
    unsubscribe(CHANNELS.report, warnOfReport)
  }
}

/** A channel's messages are untyped: what is no error data is shown as it is. */
function toWarning(message: unknown): ErrorData {
  const isData = typeof message === 'object' && message !== null && 'tag' in message && 'message' in message
  return isData ? toErrorData(new TroupeError(message as ErrorData)) : toErrorData(message)
}

import type { ErrorData } from '../errors.ts'
import { publish } from '../telemetry/channels.ts'

/** What nobody has asked to be told goes to those who listen to the channel; where there are none, to where Node's own warnings go. */
export function warn(error: ErrorData): void {
  if (!publish('environment', error)) process.emitWarning(error.message, { type: 'TroupeWarning', code: error.tag })
}

import type { ErrorData } from '../errors.ts'

/** Where nobody has asked to be told. */
export function warn(error: ErrorData): void {
  process.emitWarning(error.message, { type: 'TroupeWarning', code: error.tag })
}

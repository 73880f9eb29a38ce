import { type ErrorData, TroupeError } from '../errors.ts'

/** Counts groups in a row of which no member was graded. A run that can produce nothing says so and stops. */
export interface DeadGroupBreaker {
  /** The error that stops the run, once `limit` groups in a row are dead. */
  groupOver(graded: number, error: ErrorData | undefined): ErrorData | undefined
  reset(): void
}

export function makeDeadGroupBreaker(limit: number): DeadGroupBreaker {
  let inARow = 0
  return {
    groupOver(graded, error) {
      inARow = graded > 0 ? 0 : inARow + 1
      if (inARow < limit) return undefined
      const last = error === undefined ? '' : `; the last error was: ${error.message}`
      return new TroupeError({
        tag: 'dead-groups',
        message: `${inARow} groups in a row ended without one graded rollout, so the run was stopped${last}`,
        details: { inARow, limit },
        ...(error === undefined ? {} : { cause: error }),
      }).data
    },
    reset() {
      inARow = 0
    },
  }
}

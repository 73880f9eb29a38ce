import * as assert from 'uvu/assert'
import { TroupeError } from '../../../src/errors.ts'

/** The tagged error that `work` throws; anything else fails the test. */
export function assertThrows(work: () => unknown): TroupeError {
  try {
    work()
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
  return assert.unreachable('nothing was thrown') as never
}

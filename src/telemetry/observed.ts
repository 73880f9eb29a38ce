import type { ErrorData } from '../errors.ts'
import type { JobId } from '../ids.ts'
import type { SystemOptions } from '../kernel/system.ts'
import { publish } from './channels.ts'

/** The part of an actor system's options that makes its failures and dead letters heard, with the job that the system works for. */
export function observed(jobId?: JobId): Pick<SystemOptions, 'onFailure' | 'onDeadLetter'> {
  return {
    onFailure: ({ address, error, directive }) =>
      publish(
        'actor',
        ofJob(jobId, {
          tag: 'actor-failed',
          message: `the actor ${address} failed (${directive}): ${error.message}`,
          address,
          cause: error,
        }),
      ),
    onDeadLetter: ({ address, reason }) =>
      publish(
        'deadLetter',
        ofJob(jobId, {
          tag: 'dead-letter',
          message: `a message to ${address} was not delivered: ${reason}`,
          address,
        }),
      ),
  }
}

/** The same error, with the job that it concerns among its details. */
export function ofJob(jobId: JobId | undefined, error: ErrorData): ErrorData {
  return jobId === undefined ? error : { ...error, details: { ...error.details, jobId } }
}

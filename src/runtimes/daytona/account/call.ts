import { systemClock } from '../../../clock.ts'
import { hasTag, TroupeError } from '../../../errors.ts'
import { callFailed } from './errors.ts'
import { NEVER_SENT, readFailure } from './failure.ts'
import { readRetryAfterMs } from './rate-limits.ts'

/** What the generated clients answer with. */
export interface Answer<Data> {
  readonly data: Data
  readonly headers: unknown
}

/**
 * The data of one call to the provider. `subject` says what it does, as in `cannot …`: `create the sandbox x`. Rejects with tagged data by the answer's
 * status (`daytona-unauthorized`, `-forbidden`, `-not-found`, `-conflict`, `-quota`, `-bad-request`, `-rate-limited`, `-server-error`, `-unreachable`),
 * or with the reason of the signal that ended it. The key is in none of them.
 */
export async function callDaytona<Data>(subject: string, call: () => Promise<Answer<Data>>): Promise<Data> {
  return (await askDaytona(subject, call)).data
}

/** The same, with the whole answer: its headers say when the provider gave it. */
export async function askDaytona<Data>(subject: string, call: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  try {
    return await call()
  } catch (error) {
    throw toCallError(subject, error)
  }
}

/** What was asked of something that may be gone: undefined where the provider does not know it, or no more. */
export async function ifThere<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasTag(error, 'daytona-not-found')) return undefined
    throw error
  }
}

/** Whether what was asked for may have happened all the same. */
export function isUnanswered(error: unknown): error is TroupeError {
  if (hasTag(error, 'daytona-server-error')) return true
  return hasTag(error, 'daytona-unreachable') && !NEVER_SENT.has(String(error.data.details?.code))
}

/** For what the SDK throws, too. What is no failed call comes back as it is. */
export function toCallError(subject: string, thrown: unknown, wallTime = systemClock.wallTime()): unknown {
  if (thrown instanceof TroupeError) return thrown
  const failure = readFailure(thrown)
  if (failure === undefined) return thrown
  if (failure.cancelled !== undefined) return failure.cancelled.reason ?? thrown
  // The error itself carries the request with its key, so it is not kept as a cause.
  return callFailed(subject, failure, readRetryAfterMs(failure.headers, wallTime))
}

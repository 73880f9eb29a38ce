import { systemClock } from '../../clock.ts'
import { TroupeError } from '../../errors.ts'
import { callFailed } from './errors.ts'
import { readFailure } from './failure.ts'
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

/** For what the SDK throws, too. What is no failed call comes back as it is. */
export function toCallError(subject: string, thrown: unknown, wallTime = systemClock.wallTime()): unknown {
  if (thrown instanceof TroupeError) return thrown
  const failure = readFailure(thrown)
  if (failure === undefined) return thrown
  if (failure.cancelled !== undefined) return failure.cancelled.reason ?? thrown
  // The error itself carries the request with its key, so it is not kept as a cause.
  return callFailed(subject, failure, readRetryAfterMs(failure.headers, wallTime))
}

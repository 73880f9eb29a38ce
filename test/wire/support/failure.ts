import { TroupeError } from '../../../src/errors.ts'

/** The tagged error that `promise` rejects with. Anything else is thrown on. */
export async function failure(promise: Promise<unknown>): Promise<TroupeError> {
  const thrown = await promise.then(
    value => new Error(`it did not fail, but gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  if (!(thrown instanceof TroupeError)) throw thrown
  return thrown
}

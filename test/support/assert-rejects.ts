import * as assert from 'uvu/assert'
import { hasTag, type TroupeError } from '../../src/errors.ts'

/** The tagged error that `promise` must reject with. */
export async function assertRejects(promise: Promise<unknown>, tag: string, says: RegExp = /./): Promise<TroupeError> {
  let thrown: unknown
  try {
    await promise
  } catch (error) {
    thrown = error
  }
  if (!hasTag(thrown, tag)) throw new Error(`${tag} was expected, not ${String(thrown)}`)
  assert.match(thrown.message, says)
  return thrown
}

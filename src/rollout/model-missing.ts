import { type ErrorData, toErrorData } from '../errors.ts'
import { isModelLost } from './errors.ts'

/**
 * What an agent that was cut at its deadline says at once of its model, if that is what it had been waiting for: its silence is then not its
 * own, and grading it would be a zero that nobody has earned.
 */
export async function modelMissing(
  error: ErrorData,
  working: Promise<unknown> | undefined,
): Promise<ErrorData | undefined> {
  if (error.tag !== 'phase-deadline' || working === undefined) return undefined
  const said = await Promise.race([working.then(() => undefined, toErrorData), nextTurn().then(nextTurn)])
  return said !== undefined && isModelLost(said) ? said : undefined
}

/** Who honours an abort has said so by then; who does not is not waited for. */
function nextTurn(): Promise<undefined> {
  return new Promise(resolve => setImmediate(resolve, undefined))
}

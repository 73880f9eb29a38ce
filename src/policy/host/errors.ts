/** What can go wrong with the thread that serves a policy, in words. */
import { TroupeError } from '../../errors.ts'

export function policyServerLost(cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'policy-server-lost',
      message: `the thread of the policy server ended unasked: ${why}; start it again: with a directory, all that it accepted is there`,
    },
    cause,
  )
}

export function policyStartTimeout(base: string, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'policy-start-timeout',
    message: `the policy of ${base} could not answer within ${deadlineMs} ms of its start; the machine is overloaded, or the model is too large for it`,
    address: base,
    details: { deadlineMs },
  })
}

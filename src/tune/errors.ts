import { type ErrorData, TroupeError } from '../errors.ts'

export function nothingToTune(): TroupeError {
  return new TroupeError({
    tag: 'nothing-to-tune',
    message: 'there is nothing to choose from: name at least one strategy, one step and one rollout',
  })
}

export function rolloutsFailed(failed: number, all: number, cause: ErrorData | undefined): TroupeError {
  return new TroupeError({
    tag: 'rollouts-failed',
    message: `${failed} of ${all} rollouts on the emulator failed, so that nothing can be compared. Lower --speed, which leaves this machine more time, and try again.`,
    ...(cause === undefined ? {} : { cause }),
  })
}

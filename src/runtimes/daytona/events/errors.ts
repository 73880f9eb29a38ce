import { TroupeError } from '../../../errors.ts'

/** A sandbox that ended otherwise than it should have. */
export const sandboxFailed = (id: string, state: string, reason: string | undefined): TroupeError =>
  new TroupeError({
    tag: 'daytona-sandbox-failed',
    message: `the sandbox ${id} is ${state}${reason === undefined ? '' : `: ${reason}`}${state === 'build_failed' ? '; correct its snapshot' : '; try with another'}`,
    address: id,
    details: { state, ...(reason === undefined ? {} : { reason }) },
    transient: state !== 'build_failed',
  })

export const waitTimeout = (
  id: string,
  wanted: readonly string[],
  last: string | undefined,
  afterMs: number,
  cause: unknown,
): TroupeError =>
  new TroupeError(
    {
      tag: 'daytona-wait-timeout',
      message: `the sandbox ${id} was not ${wanted.join(' or ')} within ${Math.round(afterMs)} ms; it is ${last ?? 'in a state that nothing told'}`,
      address: id,
      details: { wanted, ...(last === undefined ? {} : { state: last }), afterMs },
      transient: true,
    },
    cause,
  )

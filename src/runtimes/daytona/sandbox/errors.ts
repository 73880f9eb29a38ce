import { type ErrorData, TroupeError, toErrorData } from '../../../errors.ts'

/** A create whose answer never came, and of which nothing was found. */
export const createUnanswered = (name: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'daytona-create-unanswered',
      message: `the create of ${name} was never answered and has made nothing that can be found; try again`,
      address: name,
      transient: true,
    },
    cause,
  )

export const forkUnsupported = (cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'fork-unsupported',
      message: 'sandboxes of this kind cannot be forked on this account; use another pool source than `fork`',
    },
    cause,
  )

export const parentBusy = (parent: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'fork-parent-busy',
      message: `the sandbox ${parent} is being forked already; one fork at a time`,
      address: parent,
      transient: true,
    },
    cause,
  )

export const parentGone = (parent: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'fork-parent-gone',
      message: `the sandbox ${parent} is gone and cannot be forked; fork another`,
      address: parent,
      transient: true,
    },
    cause,
  )

export const notDeleted = (name: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'daytona-not-deleted',
      message: `the sandbox ${name} may still exist: ${toErrorData(cause).message}; look with troupe reap`,
      address: name,
    },
    cause,
  )

/** One of many, which a listing still shows some time after its delete. */
export const notGone = (id: string, state: string, deadlineMs: number): ErrorData => ({
  tag: 'sandbox-not-gone',
  address: id,
  message: `sandbox ${id} is still there (${state}) ${Math.round(deadlineMs / 1_000)} s after its delete; try again later, and tell the provider if it stays`,
})

export const touchFailed = (id: string, cause: ErrorData): ErrorData => ({
  tag: 'daytona-touch-failed',
  message: `the provider was not told that the sandbox ${id} is in use (${cause.message}); it will stop when that goes on`,
  address: id,
  cause,
})

/** The provider ended it, or it failed, without our asking. */
export const sandboxLost = (
  id: string,
  {
    state,
    reason,
    output,
  }: { readonly state: string; readonly reason?: string | undefined; readonly output?: string | undefined },
): ErrorData => ({
  tag: 'sandbox-lost',
  message: `the sandbox ${id} is ${state}${reason === undefined ? '' : `: ${reason}`}${said(output)}`,
  address: id,
  details: { state, ...(reason === undefined ? {} : { reason }), ...(output === undefined ? {} : { output }) },
  transient: true,
})

/** The sandbox runs, and what serves in it does not answer as it should. */
export const environmentDied = (id: string, output: string): ErrorData => ({
  tag: 'environment-died',
  message: `the sandbox ${id} runs${said(output)}`,
  address: id,
  details: { output },
  transient: true,
})

function said(output: string | undefined): string {
  if (output === undefined) return ''
  return output.trim() === ''
    ? '; its environment wrote nothing'
    : `; the output of its environment ends with:\n${output.trim()}`
}

import { type ErrorData, TroupeError, toErrorData } from '../../errors.ts'
import type { Failure } from './failure.ts'

export const noKey = (): TroupeError =>
  new TroupeError({
    tag: 'daytona-no-key',
    message:
      'no key for Daytona: set DAYTONA_API_KEY to one of yours; or, without an account, start `troupe emulator` and set the two variables that it prints, DAYTONA_API_URL and DAYTONA_API_KEY',
  })

export const badUrl = (text: string): TroupeError =>
  new TroupeError({
    tag: 'daytona-bad-url',
    message: `"${text}" is no address of Daytona's API; write the whole of it in DAYTONA_API_URL, for instance https://app.daytona.io/api or http://127.0.0.1:8790/api`,
    address: text,
  })

export const badOption = (name: string, value: unknown, wanted: string): TroupeError =>
  new TroupeError({
    tag: 'daytona-bad-option',
    message: `${name} of a Daytona runtime is ${wanted}, not ${JSON.stringify(value)}`,
    details: { name },
  })

export const noCommand = (snapshot: string): TroupeError =>
  new TroupeError({
    tag: 'daytona-no-command',
    message: `nothing says how the environment of the snapshot ${snapshot} is served; give the runtime its \`command\`, or the \`image\` whose Dockerfile ends with one`,
    address: snapshot,
  })

type Kind = Pick<ErrorData, 'tag' | 'transient'> & { readonly next: string }

/** A call that the provider refused, or that never reached it. `subject` says what was tried: `create the sandbox x`. */
export function callFailed(subject: string, failure: Failure, retryAfterMs: number | undefined): TroupeError {
  const { status, code, said, url } = failure
  const { next, ...kind } = toKind(failure, retryAfterMs)
  const what = status === undefined ? `no answer (${code ?? 'unknown'})` : `status ${status}`
  return new TroupeError({
    ...kind,
    message: `cannot ${subject}: ${what}${said === '' ? '' : `, "${said}"`}; ${next}`,
    ...(url === undefined ? {} : { address: url }),
    details: {
      ...(status === undefined ? {} : { status }),
      ...(status !== undefined || code === undefined ? {} : { code }),
      ...(said === '' ? {} : { said }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  })
}

function toKind({ status, said, url, headers }: Failure, retryAfterMs: number | undefined): Kind {
  const where = url === undefined ? 'the provider' : new URL(url).origin
  if (status === undefined)
    return {
      tag: 'daytona-unreachable',
      transient: true,
      next: `is ${where} the right address (DAYTONA_API_URL), and can it be reached from here?`,
    }
  if (status === 401)
    return {
      tag: 'daytona-unauthorized',
      next: `${where} does not accept the key; correct DAYTONA_API_KEY or make a new one`,
    }
  if (status === 403)
    return {
      tag: 'daytona-forbidden',
      next: 'the account may not do this; check its region, its permissions and whether it is suspended',
    }
  if (status === 404) return { tag: 'daytona-not-found', next: 'it is not there, or not any more' }
  if (status === 409) return { tag: 'daytona-conflict', next: 'something else has that name or is at work on it' }
  if (status === 429)
    return {
      tag: 'daytona-rate-limited',
      transient: true,
      next: retryAfterMs === undefined ? 'try again later' : `try again in ${Math.ceil(retryAfterMs / 1_000)} s`,
    }
  if (status === 501) return { tag: 'daytona-not-implemented', next: `${where} does not offer this` }
  if (status >= 500) return { tag: 'daytona-server-error', transient: true, next: `a fault of ${where}; try again` }
  if (status < 400) {
    const to = headers.location === undefined ? '' : ` to ${headers.location}`
    return { tag: 'daytona-redirected', next: `${where} sends elsewhere${to}; correct DAYTONA_API_URL` }
  }
  if (/total .*limit exceeded/i.test(said))
    return {
      tag: 'daytona-quota',
      next: 'ask for fewer sandboxes at once or smaller ones, delete what is left over (troupe reap), or have the quota raised',
    }
  return { tag: 'daytona-bad-request', next: 'correct what was asked for' }
}

/** The region is none of the account's. */
export const regionUnknown = (region: string, regions: readonly string[], cause?: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'daytona-region-unknown',
      message: `the region "${region}" is not available to this account${regions.length === 0 ? '' : `, which has ${regions.join(', ')}`}; correct the region (DAYTONA_TARGET) or leave it to the account`,
      address: region,
      details: { region, regions },
    },
    cause,
  )

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

export const accountReleased = (): TroupeError =>
  new TroupeError({ tag: 'daytona-released', message: 'the account is closed; open it anew' })

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

export const leftBehind = (names: readonly string[], cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'daytona-left-behind',
      message: `may still exist at Daytona: ${names.join(', ')}; delete them with troupe reap, or wait until they stop by themselves`,
      details: { names },
    },
    cause,
  )

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

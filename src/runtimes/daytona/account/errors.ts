import { type ErrorData, TroupeError } from '../../../errors.ts'
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

export const accountReleased = (): TroupeError =>
  new TroupeError({ tag: 'daytona-released', message: 'the account is closed; open it anew' })

import { TroupeError } from '../../../errors.ts'
import type { Account } from './account.ts'
import { type Answer, callDaytona } from './call.ts'
import { retry } from './retry.ts'

const TRIES = 5
const FIRST_PAUSE_MS = 200
const LONGEST_OWN_PAUSE_MS = 5_000
/** Of one pause, whatever the provider asks for. */
const LONGEST_PAUSE_MS = 60_000

export interface Patience {
  /** True where a second call does no harm, so that one whose answer was lost is made again. Otherwise only what the provider refused for now is. */
  readonly idempotent: boolean
  readonly signal?: AbortSignal | undefined
}

/** `callDaytona`, patiently. */
export function callPatiently<Data>(
  account: Pick<Account, 'clock'>,
  subject: string,
  call: () => Promise<Answer<Data>>,
  patience: Patience,
): Promise<Data> {
  return patiently(account, () => callDaytona(subject, call), patience)
}

/**
 * Up to five times, beyond what the HTTP client itself makes again: it takes seconds of trouble, not one cut socket, to fail. Rejects with the last failure,
 * or with the signal's reason.
 */
export function patiently<Data>(
  { clock }: Pick<Account, 'clock'>,
  work: () => Promise<Data>,
  { idempotent, signal }: Patience,
): Promise<Data> {
  const toPauseMs = (error: unknown, tried: number) =>
    tried < TRIES && mayRepeat(error, idempotent) ? pauseMs(error, tried) : undefined
  return retry(clock, work, toPauseMs, signal)
}

function mayRepeat(error: unknown, idempotent: boolean): error is TroupeError {
  if (!(error instanceof TroupeError)) return false
  return error.tag === 'daytona-rate-limited' || (idempotent && error.data.transient === true)
}

/** What the provider asks for, or a pause that doubles, if that is longer. */
export function pauseMs({ data }: TroupeError, tried: number): number {
  const asked = data.details?.retryAfterMs
  const own = Math.min(LONGEST_OWN_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tried - 1))
  return Math.min(LONGEST_PAUSE_MS, Math.max(typeof asked === 'number' ? asked : 0, own))
}

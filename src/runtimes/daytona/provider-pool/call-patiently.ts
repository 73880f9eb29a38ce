import { sleep } from '../../../clock.ts'
import { hasTag, TroupeError } from '../../../errors.ts'
import type { Account } from '../account.ts'
import { type Answer, callDaytona } from '../call.ts'

const TRIES = 5
const FIRST_PAUSE_MS = 200
/** Of one pause, whatever the provider asks for. */
const LONGEST_PAUSE_MS = 60_000

export interface Patience {
  /** True where a second call does no harm, so that one whose answer was lost is made again. Otherwise only what the provider refused for now is. */
  readonly idempotent: boolean
  readonly signal?: AbortSignal
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
 * Up to five times: `Retry-After` is kept to, and other failures that may pass are tried again after a pause that doubles. Rejects with the last one, or
 * with the signal's reason.
 */
export async function patiently<Data>(
  { clock }: Pick<Account, 'clock'>,
  work: () => Promise<Data>,
  { idempotent, signal }: Patience,
): Promise<Data> {
  for (let tried = 1; ; tried += 1)
    try {
      return await work()
    } catch (error) {
      if (tried === TRIES || !mayRepeat(error, idempotent)) throw error
      await sleep(clock, pauseMs(error, tried), signal)
    }
}

/** Whether what was asked for may have happened all the same. */
export function isUnanswered(error: unknown): boolean {
  return hasTag(error, 'daytona-unreachable') || hasTag(error, 'daytona-server-error')
}

function mayRepeat(error: unknown, idempotent: boolean): error is TroupeError {
  if (!(error instanceof TroupeError)) return false
  return error.tag === 'daytona-rate-limited' || (idempotent && error.data.transient === true)
}

function pauseMs({ data }: TroupeError, tried: number): number {
  const asked = data.details?.retryAfterMs
  const wanted = typeof asked === 'number' ? asked : FIRST_PAUSE_MS * 2 ** (tried - 1)
  return Math.min(Math.max(wanted, 1), LONGEST_PAUSE_MS)
}

import { type Clock, sleep } from '../clock.ts'
import { TroupeError } from '../errors.ts'
import type { ReportHttp } from './http.ts'

/** How often a report is sent again. Nothing is counted twice at the other end: what is sent again has the ids that it had. */
export interface RetryPolicy {
  /** After 429, 502, 503, 504 and where no answer came. */
  readonly retries: number
  /** Before the first of them; doubled each time. `Retry-After` goes before it. */
  readonly backOffMs: number
  /** After any other refusal: once more. The platform is known to refuse a good key now and then, and to take it a moment later. */
  readonly again: boolean
}

/** As HUD's own package has them for each kind. */
export const REPORT_POLICY: RetryPolicy = { retries: 4, backOffMs: 500, again: true }
export const UPLOAD_POLICY: RetryPolicy = { retries: 2, backOffMs: 500, again: true }

const AGAIN_MS = 500
const LONGEST_WAIT_MS = 30_000
const PASSING = [429, 502, 503, 504]

/** Posts until it is taken, or the policy is at its end: then it rejects with the last refusal. The signal ends a wait. */
export async function deliver(
  http: ReportHttp,
  request: { readonly url: string; readonly json: string },
  { retries, backOffMs, again }: RetryPolicy,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  let tries = 0
  let triedAgain = false
  for (;;) {
    try {
      return await http.post(request.url, request.json)
    } catch (error) {
      if (stop.aborted || !(error instanceof TroupeError)) throw error
      if (isPassing(error)) {
        if (tries === retries) throw error
        await sleep(clock, waitBefore(error, backOffMs * 2 ** tries), stop)
        tries += 1
      } else {
        // One that nobody answers would hold its place for another deadline.
        if (!again || triedAgain || error.tag === 'report-unanswered') throw error
        triedAgain = true
        await sleep(clock, AGAIN_MS, stop)
      }
    }
  }
}

function isPassing({ data }: TroupeError): boolean {
  return data.tag === 'report-unreachable' || PASSING.some(status => status === data.details?.status)
}

function waitBefore({ data }: TroupeError, backOffMs: number): number {
  const asked = data.details?.retryAfterMs
  return Math.min(typeof asked === 'number' ? asked : backOffMs, LONGEST_WAIT_MS)
}

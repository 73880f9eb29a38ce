import type { Sandbox as SandboxDto } from '@daytona/api-client'
import { sleep } from '../../clock.ts'
import { hasTag, TroupeError } from '../../errors.ts'
import type { Account } from './account.ts'
import { callDaytona } from './call.ts'
import { notDeleted } from './errors.ts'

const DEADLINE_MS = 60_000
const BACKOFF_MS = 200
const MAX_BACKOFF_MS = 5_000

/**
 * Deletes a sandbox and resolves when it is gone. One that is busy, a limit and a fault are waited out, within a minute. Rejects with `daytona-not-deleted`,
 * and its cause, when it may still exist.
 */
export async function removeSandbox(account: Account, id: string, deadlineMs = DEADLINE_MS): Promise<void> {
  const { clock, events, sandboxes } = account
  const until = clock.now() + deadlineMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await callDaytona(`delete the sandbox ${id}`, () => sandboxes.deleteSandbox(id))
      // Older providers answer with nothing.
      const known: Partial<SandboxDto> | undefined = answer
      const deadlineMs = Math.max(1, until - clock.now())
      if (known?.id === undefined) await events.reached(id, ['destroyed'], { deadlineMs })
      else await events.reached(known.id, ['destroyed'], { deadlineMs, known: answer })
      return
    } catch (error) {
      if (hasTag(error, 'daytona-not-found')) return
      const pauseMs = toPauseMs(error, attempt)
      if (pauseMs === undefined || clock.now() + pauseMs >= until) throw notDeleted(id, error)
      await sleep(clock, pauseMs)
    }
  }
}

/** Undefined where another delete would fare no better. A wait that took all the time there was is one of these. */
function toPauseMs(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof TroupeError) || error.tag === 'daytona-wait-timeout') return undefined
  const { transient, details = {} } = error.data
  if (transient !== true && error.tag !== 'daytona-conflict') return undefined
  const { retryAfterMs } = details
  return Math.max(
    typeof retryAfterMs === 'number' ? retryAfterMs : 0,
    Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** attempt),
  )
}

import type { Sandbox as SandboxDto } from '@daytona/api-client'
import { TroupeError } from '../../../errors.ts'
import type { Account } from '../account/account.ts'
import { callDaytona, ifThere } from '../account/call.ts'
import { pauseMs } from '../account/patience.ts'
import { retry } from '../account/retry.ts'
import { notDeleted } from './errors.ts'

const DEADLINE_MS = 60_000

/**
 * Deletes a sandbox and resolves when events tell that it is gone. One that is busy, a limit and a fault are waited out, within a minute. Rejects with
 * `daytona-not-deleted`, and its cause, when it may still exist.
 */
export async function removeSandbox(account: Account, id: string, deadlineMs = DEADLINE_MS): Promise<void> {
  const { clock, events } = account
  const until = clock.now() + deadlineMs
  const remove = async () => {
    const known = await askToDelete(account, id)
    const options = { deadlineMs: Math.max(1, until - clock.now()) }
    if (known === 'deleting') await events.reached(id, ['destroyed'], options)
    else if (known !== 'gone') await events.reached(known.id, ['destroyed'], { ...options, known })
  }
  const toPauseMs = (error: unknown, tried: number) => {
    if (!isWorthAnother(error)) return undefined
    const wait = pauseMs(error, tried)
    return clock.now() + wait < until ? wait : undefined
  }
  try {
    await retry(clock, remove, toPauseMs)
  } catch (error) {
    throw notDeleted(id, error)
  }
}

/** One delete: what the provider says of the sandbox that goes. */
export async function askToDelete({ sandboxes }: Account, id: string): Promise<SandboxDto | 'deleting' | 'gone'> {
  const ask = () => sandboxes.deleteSandbox(id)
  const answer = await ifThere(callDaytona(`delete the sandbox ${id}`, ask).then(dto => ({ dto })))
  if (answer === undefined) return 'gone'
  // Older providers answer with nothing.
  const dto: Partial<SandboxDto> | undefined = answer.dto
  return dto?.id === undefined ? 'deleting' : answer.dto
}

/** A wait that took all the time there was is not worth another delete. */
function isWorthAnother(error: unknown): error is TroupeError {
  if (!(error instanceof TroupeError) || error.tag === 'daytona-wait-timeout') return false
  return error.data.transient === true || error.tag === 'daytona-conflict'
}

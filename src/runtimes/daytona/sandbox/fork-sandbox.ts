import type { Sandbox as SandboxDto } from '@daytona/api-client'
import { hasTag, TroupeError } from '../../../errors.ts'
import type { Account } from '../account/account.ts'
import { askDaytona, callDaytona } from '../account/call.ts'
import { type Born, withLostAnswer } from './create-sandbox.ts'
import { forkUnsupported, parentBusy, parentGone } from './errors.ts'
import type { NewSandbox } from './new-sandbox.ts'

/** Copying a running sandbox takes longer than creating one. */
const FORK_TIMEOUT_MS = 120_000

/**
 * A copy of a running sandbox, with what serves in it. It has the name that was asked for, and of the rest what its parent has, or nothing: `dressFork`
 * comes next. Rejects with `fork-parent-busy` while another fork of the parent is under way, `fork-parent-gone`, `fork-unsupported`, or as a create does.
 */
export async function forkSandbox(account: Account, parentId: string, { name }: NewSandbox): Promise<Born> {
  const fork = () => account.sandboxes.forkSandbox(parentId, { name }, undefined, { timeout: FORK_TIMEOUT_MS })
  try {
    const { answer } = await withLostAnswer(account, name, () => askDaytona(`fork ${parentId} as ${name}`, fork))
    return { dto: answer.data, origin: 'fork' }
  } catch (error) {
    throw toForkError(parentId, error)
  }
}

/** Labels and lifetimes of its own, all at once. Nothing is asked for that it has already. */
export async function dressFork({ sandboxes }: Account, child: SandboxDto, wanted: NewSandbox): Promise<void> {
  const { id } = child
  const { labels, autoStopMinutes, ttlMinutes } = wanted
  const calls = [
    callDaytona(`label the fork ${id}`, () => sandboxes.replaceLabels(id, { labels })),
    callDaytona(`bound the life of the fork ${id}`, () => sandboxes.setTtl(id, ttlMinutes)),
  ]
  if (child.autoDeleteInterval !== 0)
    calls.push(callDaytona(`make the fork ${id} ephemeral`, () => sandboxes.setAutoDeleteInterval(id, 0)))
  if (child.autoStopInterval !== autoStopMinutes)
    calls.push(callDaytona(`set when the fork ${id} stops`, () => sandboxes.setAutostopInterval(id, autoStopMinutes)))
  await Promise.all<unknown>(calls)
}

function toForkError(parentId: string, error: unknown): unknown {
  if (!(error instanceof TroupeError)) return error
  const { status, said = '' } = error.data.details ?? {}
  const words = String(said)
  // A route that is not there, against a parent that is not.
  if (status === 501 || status === 405 || (status === 404 && /^Cannot POST/i.test(words))) return forkUnsupported(error)
  if (status === 403 || /not (supported|available|enabled)|unsupported/i.test(words)) return forkUnsupported(error)
  if (hasTag(error, 'daytona-conflict')) return parentBusy(parentId, error)
  if (hasTag(error, 'daytona-not-found') || /must be started|not started/i.test(words))
    return parentGone(parentId, error)
  return error
}

import type { Sandbox as SandboxDto } from '@daytona/api-client'
import type { ProvisionRequest } from '../../runtime.ts'
import type { Account } from '../account/account.ts'
import { callDaytona } from '../account/call.ts'
import type { Reached } from '../reach/index.ts'
import type { Born } from './create-sandbox.ts'
import { dressFork } from './fork-sandbox.ts'
import type { LiveSandbox } from './live-sandbox.ts'
import type { NewSandbox } from './new-sandbox.ts'
import type { ProvisionPorts } from './provision.ts'

export interface BringUp {
  readonly wanted: NewSandbox
  readonly born: Born
  readonly live: LiveSandbox
  /** Calls everything off; aborted here when one part has failed. */
  readonly work: AbortController
  /** Told when it has started. */
  readonly onStarted: () => void
}

/** Until a sandbox has started. Whoever asked for it has a deadline of their own, and calls it off. */
const STARTED_DEADLINE_MS = 10 * 60_000

/**
 * From the answered create to the answered environment, all that can be at once: the ways to it are prepared while it starts, and a fork is labelled meanwhile.
 * Rejects with what failed first, when nothing of the rest goes on any more. The sandbox itself is left as it is.
 */
export async function bringUp(
  { account, reach, serve, startDeadlineMs }: Pick<ProvisionPorts, 'account' | 'reach' | 'serve' | 'startDeadlineMs'>,
  { prewarm }: ProvisionRequest,
  { wanted, born, live, work, onStarted }: BringUp,
): Promise<{ readonly reached: Reached; readonly startedAt: number }> {
  const { dto, origin } = born
  let startedAt = 0
  const started = toStarted(account, dto, work.signal).then(sandbox => {
    startedAt = account.clock.now()
    onStarted()
    return sandbox
  })
  const parts = [
    reach
      .open({
        id: dto.id,
        sandbox: started,
        serve: origin === 'fork' ? undefined : serve,
        prewarm,
        signal: work.signal,
        deadlineMs: startDeadlineMs,
      })
      .then(reached => {
        live.noteReached(reached)
        return reached
      }),
    started.then(() => undefined),
    origin === 'fork' ? dressFork(account, dto, wanted).then(() => undefined) : undefined,
  ] as const
  for (const part of parts) part?.catch(error => work.abort(error))
  await Promise.allSettled(parts)
  work.signal.throwIfAborted()
  const [reached] = await Promise.all(parts)
  return { reached, startedAt }
}

/** Started, and with the address of its toolbox, which some answers leave out. */
async function toStarted(account: Account, known: SandboxDto, signal: AbortSignal): Promise<SandboxDto> {
  const [started, toolboxProxyUrl] = await Promise.all([
    account.events.reached(known.id, ['started'], { deadlineMs: STARTED_DEADLINE_MS, signal, known }),
    toToolboxUrl(account, known),
  ])
  return { ...started, toolboxProxyUrl }
}

async function toToolboxUrl({ sandboxes }: Account, { id, toolboxProxyUrl }: SandboxDto): Promise<string> {
  // The type says that it is always there; a provider that is not so new says otherwise.
  const given: string | undefined = toolboxProxyUrl
  if (given !== undefined && given !== '') return given
  const { url } = await callDaytona(`look for the toolbox of ${id}`, () => sandboxes.getToolboxProxyUrl(id))
  return url
}

import type { Clock } from '../clock.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import { publish } from '../telemetry/channels.ts'
import type { ProvisionRequest, Sandbox } from './runtime.ts'

/** What a timer can count. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * A sandbox that is ended once it has lived for as many seconds as its row allows, whatever goes on in it: its lessee is told that it is lost, as of one that
 * dies by itself. Without a limit it is as `make` makes it.
 */
export async function withRunLimit(
  request: ProvisionRequest,
  { clock, limitS }: { readonly clock: Clock; readonly limitS: number | undefined },
  make: (request: ProvisionRequest) => Promise<Sandbox>,
): Promise<Sandbox> {
  if (limitS === undefined) return make(request)
  let isLost = false
  const onLost = (error: ErrorData) => {
    if (isLost) return
    isLost = true
    lift()
    request.onLost?.(error)
  }
  let lift = () => {}
  const sandbox = await make({ ...request, onLost })
  if (isLost) return sandbox
  lift = clock.after(Math.min(limitS * 1_000, LONGEST_MS), () => {
    onLost(runLimitReached(request.id, limitS))
    // One that will not go is its lessee's to be told of, when it gives it back.
    sandbox.dispose({ sessionEnded: false }).catch(error => publish('sandbox', toErrorData(error)))
  })
  const dispose: Sandbox['dispose'] = how => {
    isLost = true
    lift()
    return sandbox.dispose(how)
  }
  return { ...sandbox, dispose }
}

/** Not transient: another sandbox would have no longer. */
const runLimitReached = (id: string, limitS: number): ErrorData => ({
  tag: 'run-limit',
  message: `sandbox ${id} has lived for the ${limitS} s that runtime_config.limits.run_timeout_s allows, and was ended; raise it if the task takes longer`,
  address: id,
  details: { limitS },
  transient: false,
})

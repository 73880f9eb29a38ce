import type { CancelTimer, Clock } from '../../../clock.ts'
import { type ErrorData, hasTag, toErrorData } from '../../../errors.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { Account } from '../account/account.ts'
import { callDaytona } from '../account/call.ts'
import { touchFailed } from './errors.ts'

/** Keeps sandboxes from being stopped as unused while their engine lives; when it dies, the provider stops them. */
export interface Backstop {
  /** Touches the sandbox from now on, until the returned function is called. `onGone` is called at most once: the provider knows it no more. */
  keep(id: string, onGone: (cause: ErrorData) => void): () => void
}

export interface BackstopOptions {
  readonly clock: Clock
  readonly autoStopMinutes: number
  /** Tells the provider that the sandbox is in use. */
  readonly touch: (id: string) => Promise<unknown>
  /** What is published of a touch that failed. Default: `daytona-touch-failed`. */
  readonly toProblem?: (id: string, cause: ErrorData) => ErrorData
  readonly random?: () => number
  /** Touches under way at most. Default 8. */
  readonly width?: number
}

const MINUTE_MS = 60_000
/** Of the provider's interval: two touches in a row may fail. */
const SHARE = 1 / 3

/** Tells the provider that a sandbox is in use. */
export function touchSandbox({ sandboxes }: Pick<Account, 'sandboxes'>, id: string): Promise<unknown> {
  return callDaytona(`say that the sandbox ${id} is in use`, () => sandboxes.updateLastActivity(id))
}

/** Each sandbox is touched at times of its own, so that many do not come at once. Failures are published, not thrown. */
export function makeBackstop({
  clock,
  autoStopMinutes,
  touch,
  toProblem = touchFailed,
  random = Math.random,
  width = 8,
}: BackstopOptions): Backstop {
  const everyMs = autoStopMinutes * MINUTE_MS * SHARE
  const due: Kept[] = []
  let underWay = 0

  interface Kept {
    readonly id: string
    readonly onGone: (cause: ErrorData) => void
    cancel: CancelTimer
    kept: boolean
  }

  function schedule(sandbox: Kept, delayMs: number): void {
    sandbox.cancel = clock.after(delayMs, () => {
      due.push(sandbox)
      pump()
    })
  }

  function pump(): void {
    while (underWay < width) {
      const sandbox = due.shift()
      if (sandbox === undefined) return
      if (!sandbox.kept) continue
      underWay += 1
      void touchOne(sandbox).finally(() => {
        underWay -= 1
        pump()
      })
    }
  }

  async function touchOne(sandbox: Kept): Promise<void> {
    const { id, onGone } = sandbox
    try {
      await touch(id)
    } catch (error) {
      if (!sandbox.kept) return
      if (hasTag(error, 'daytona-not-found')) {
        sandbox.kept = false
        onGone(error.data)
      } else publish('sandbox', toProblem(id, toErrorData(error)))
    }
    if (sandbox.kept) schedule(sandbox, everyMs)
  }

  return {
    keep(id, onGone) {
      const sandbox: Kept = { id, onGone, cancel: () => {}, kept: true }
      schedule(sandbox, everyMs * (0.5 + 0.5 * random()))
      return () => {
        sandbox.kept = false
        sandbox.cancel()
      }
    },
  }
}

import type { Clock } from '../clock.ts'
import type { SandboxId } from '../ids.ts'
import type { ProvisionRequest, Runtime, Sandbox } from '../runtimes/runtime.ts'
import { disposeTimeout, provisionStuck, provisionTimeout } from './errors.ts'
import { type LazyAbort, makeLazyAbort } from './lazy-abort.ts'
import type { Reachable } from './sandbox-state.ts'
import { within } from './within.ts'

export interface HandleDeadlines {
  readonly provisionMs: number
  /** For one delete, and for a create that was called off to end. */
  readonly disposeMs: number
}

/**
 * The part of a sandbox that is not data and cannot be in a message: the runtime's own object, and the create that makes it. Each
 * id is held from before its create is sent until its delete is confirmed.
 */
export interface Handles {
  ids(): readonly SandboxId[]
  /**
   * Rejects with `provision-timeout` when it took too long and was cleaned up; with `provision-stuck` when it did not even end
   * after it was called off, and may still exist. `deadlineMs` is for one that is allowed longer than the others.
   */
  provision(request: Omit<ProvisionRequest, 'signal'>, deadlineMs?: number): Promise<Reachable>
  cancel(id: SandboxId): void
  /** Waits for a create that is under way, then deletes. Rejects with `dispose-timeout`, unless it is `patient`. */
  dispose(id: SandboxId, how: { readonly sessionEnded: boolean; readonly patient?: true }): Promise<void>
  /** Calls off and deletes everything at once. Returns the ids that may still exist when the deadline has passed. */
  close(): Promise<readonly SandboxId[]>
}

interface Handle {
  readonly controller: LazyAbort
  readonly making: Promise<Sandbox>
  made: boolean
  /** Ends the wait for the create, as its deadline would. */
  hurry: () => void
}

export function makeHandles(runtime: Runtime, clock: Clock, deadlines: HandleDeadlines): Handles {
  const handles = new Map<SandboxId, Handle>()

  async function provision(
    request: Omit<ProvisionRequest, 'signal'>,
    deadlineMs: number = deadlines.provisionMs,
  ): Promise<Reachable> {
    const { id } = request
    const controller = makeLazyAbort()
    const making = (async () =>
      runtime.provision({
        ...request,
        get signal() {
          return controller.signal
        },
      }))()
    const handle: Handle = { controller, making, made: false, hurry: () => {} }
    handles.set(id, handle)
    making.then(
      () => {
        handle.made = true
      },
      // A create that rejects has left nothing behind, whenever it does so.
      () => handles.delete(id),
    )
    const { address, sessionId, origin } = await within(
      clock,
      making,
      deadlineMs,
      () => giveUp(id, handle, deadlineMs),
      hurry => {
        handle.hurry = hurry
      },
    )
    return { address, sessionId, origin: origin ?? 'cold' }
  }

  /** Calls the create off. One that ends well all the same is as good as any. */
  async function giveUp(id: SandboxId, { controller, making }: Handle, deadlineMs: number): Promise<Sandbox> {
    controller.abort()
    const timedOut = provisionTimeout(id, deadlineMs)
    const ended = making.catch(() => Promise.reject(timedOut))
    return within(clock, ended, deadlines.disposeMs, () =>
      Promise.reject(provisionStuck(id, deadlineMs + deadlines.disposeMs)),
    )
  }

  async function end(id: SandboxId, sessionEnded: boolean): Promise<void> {
    const handle = handles.get(id)
    if (handle === undefined) return
    if (!handle.made) handle.controller.abort()
    // A create that rejects has left nothing to delete.
    const sandbox = await handle.making.catch(() => undefined)
    await sandbox?.dispose({ sessionEnded })
    handles.delete(id)
  }

  const dispose: Handles['dispose'] = (id, { sessionEnded, patient }) =>
    patient === true
      ? end(id, sessionEnded)
      : within(clock, end(id, sessionEnded), deadlines.disposeMs, () =>
          Promise.reject(disposeTimeout(id, deadlines.disposeMs)),
        )

  return {
    ids: () => [...handles.keys()],
    provision,
    cancel(id) {
      const handle = handles.get(id)
      handle?.controller.abort()
      handle?.hurry()
    },
    dispose,
    async close() {
      await Promise.allSettled([...handles.keys()].map(id => dispose(id, { sessionEnded: false })))
      return [...handles.keys()]
    },
  }
}

import { untilAborted } from '../bounded.ts'
import type { ErrorData } from '../errors.ts'
import type { Places } from './places.ts'
import type { Sandbox } from './runtime.ts'

type Labels = Readonly<Record<string, string>>

/** One sandbox that several sessions share, made when the first of them comes, and made anew when it has died. */
export interface Substrate {
  readonly places: Places
  /**
   * Rejects with why it could not be made for whoever had it made; whoever waited meanwhile has it made in turn. Rejects with the signal's reason for one who
   * no longer waits.
   */
  get(labels: Labels, signal: AbortSignal): Promise<Sandbox>
  isCurrent(at: Sandbox): Promise<boolean>
  /** Gives it back, once it is there. Rejects if it may still exist. */
  end(): Promise<void>
}

export interface SubstratePorts {
  readonly places: Places
  make(labels: Labels, onLost: (error: ErrorData) => void): Promise<Sandbox>
  /** It died by itself. Called before it is disposed of. */
  onLost(at: Sandbox, error: ErrorData): void
}

export function makeSubstrate({ places, make, onLost }: SubstratePorts): Substrate {
  let current: Promise<Sandbox> | undefined
  /** Those that died and are being disposed of. */
  const ending = new Set<Promise<void>>()

  function begin(labels: Labels): Promise<Sandbox> {
    const making = make(labels, error => {
      const ended = lost(making, error)
      ending.add(ended)
      ended.then(() => ending.delete(ended), ignoreTold)
    })
    current = making
    making.catch(() => forget(making))
    return making
  }

  async function lost(making: Promise<Sandbox>, error: ErrorData): Promise<void> {
    forget(making)
    const at = await making
    onLost(at, error)
    await at.dispose({ sessionEnded: false })
  }

  function forget(making: Promise<Sandbox>): void {
    if (current === making) current = undefined
  }

  return {
    places,
    async get(labels, signal) {
      for (;;) {
        signal.throwIfAborted()
        if (current === undefined) return await untilAborted(begin(labels), signal)
        try {
          return await untilAborted(current, signal)
        } catch {
          // Somebody else's attempt failed, or the signal aborted, which is looked at first.
        }
      }
    },
    // One that is being made, or failed to be, is another one.
    isCurrent: async at => (await current?.catch(() => undefined)) === at,
    async end() {
      // One that never came has left nothing behind.
      const at = await current?.catch(() => undefined)
      const ends = await Promise.allSettled([at?.dispose({ sessionEnded: false }), ...ending])
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
  }
}

/** It stays among those that end, and `end` tells of it. */
function ignoreTold(): void {}

import { queueFull } from './errors.ts'

/** Lets a bounded number of commands run at once; the rest wait. */
export interface CommandGate {
  readonly running: number
  readonly waiting: number
  /**
   * Waits for a turn and resolves with the call that gives it back (safe to call twice). Rejects with the signal's reason, or
   * with `command-queue-full` when too many wait already.
   */
  enter(owner: string, signal: AbortSignal): Promise<() => void>
}

interface Waiter {
  readonly grant: () => void
}

/**
 * Turns go round among the owners (sessions), first come first served within each: a session that sends a hundred commands
 * delays the others by one command, not by a hundred.
 */
export function makeCommandGate(options: { readonly maxRunning: number; readonly maxWaiting: number }): CommandGate {
  const queues = new Map<string, Set<Waiter>>()
  let running = 0
  let waiting = 0

  function leave(): () => void {
    let left = false
    return () => {
      if (left) return
      left = true
      running -= 1
      const next = takeNext()
      if (next === undefined) return
      running += 1
      next.grant()
    }
  }

  function takeNext(): Waiter | undefined {
    for (const [owner, queue] of queues) {
      const [first] = queue
      queues.delete(owner)
      if (first === undefined) continue
      queue.delete(first)
      waiting -= 1
      if (queue.size > 0) queues.set(owner, queue) // to the end of the round
      return first
    }
    return undefined
  }

  function forget(owner: string, waiter: Waiter): void {
    const queue = queues.get(owner)
    if (!queue?.delete(waiter)) return
    waiting -= 1
    if (queue.size === 0) queues.delete(owner)
  }

  return {
    get running() {
      return running
    },
    get waiting() {
      return waiting
    },
    async enter(owner, signal) {
      signal.throwIfAborted()
      if (running < options.maxRunning) {
        running += 1
        return leave()
      }
      if (waiting >= options.maxWaiting) throw queueFull(waiting)
      return new Promise((resolve, reject) => {
        const abort = () => {
          forget(owner, waiter)
          reject(signal.reason)
        }
        const waiter = {
          grant: () => {
            signal.removeEventListener('abort', abort)
            resolve(leave())
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        const queue = queues.get(owner) ?? new Set()
        queues.set(owner, queue.add(waiter))
        waiting += 1
      })
    },
  }
}

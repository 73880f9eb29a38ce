import { queueFull } from './errors.ts'

/** Lets a bounded number of commands run at once; the rest wait. */
export interface CommandGate {
  readonly running: number
  readonly waiting: number
  /**
   * Waits for a turn and resolves with the call that gives it back (safe to call twice). Rejects with the signal's reason, or
   * with `command-queue-full` when too many wait already.
   */
  enter(owner: CommandOwner, signal: AbortSignal): Promise<() => void>
}

/** A session, as the gate knows it. */
export interface CommandOwner {
  readonly id: string
  /** Lower is older. */
  readonly seniority: number
}

interface Waiter {
  readonly grant: () => void
}

interface Queue {
  readonly owner: CommandOwner
  readonly waiters: Set<Waiter>
}

/**
 * The oldest session goes first: when many start at once, some are done early and can be graded, collected and trained on while
 * the others still run, instead of all being done at the end. But a session that has a command running waits for those
 * that have none: one that sends a hundred delays the others by one command, not by a hundred. First come first served within each.
 */
export function makeCommandGate(options: { readonly maxRunning: number; readonly maxWaiting: number }): CommandGate {
  const queues = new Map<string, Queue>()
  const runningOf = new Map<string, number>()
  let running = 0
  let waiting = 0

  function start(owner: CommandOwner): () => void {
    let left = false
    running += 1
    runningOf.set(owner.id, (runningOf.get(owner.id) ?? 0) + 1)
    return () => {
      if (left) return
      left = true
      running -= 1
      const own = (runningOf.get(owner.id) ?? 1) - 1
      if (own === 0) runningOf.delete(owner.id)
      else runningOf.set(owner.id, own)
      const next = chooseNext()
      const [first] = next?.waiters ?? []
      if (next === undefined || first === undefined) return
      remove(next, first)
      first.grant()
    }
  }

  function chooseNext(): Queue | undefined {
    let best: Queue | undefined
    for (const queue of queues.values()) if (best === undefined || goesBefore(queue.owner, best.owner)) best = queue
    return best
  }

  function goesBefore(one: CommandOwner, other: CommandOwner): boolean {
    const [mine, theirs] = [runningOf.get(one.id) ?? 0, runningOf.get(other.id) ?? 0]
    return mine === theirs ? one.seniority < other.seniority : mine < theirs
  }

  function remove(queue: Queue, waiter: Waiter): void {
    if (!queue.waiters.delete(waiter)) return
    waiting -= 1
    if (queue.waiters.size === 0) queues.delete(queue.owner.id)
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
      if (running < options.maxRunning) return start(owner)
      if (waiting >= options.maxWaiting) throw queueFull(waiting)
      return new Promise((resolve, reject) => {
        const abort = () => {
          remove(queue, waiter)
          reject(signal.reason)
        }
        const waiter = {
          grant: () => {
            signal.removeEventListener('abort', abort)
            resolve(start(owner))
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        const queue = queues.get(owner.id) ?? { owner, waiters: new Set() }
        queues.set(owner.id, queue)
        queue.waiters.add(waiter)
        waiting += 1
      })
    },
  }
}

/** Rollouts that a worker may have at once, over all jobs that it works for. */
export interface Credits {
  readonly free: number
  /**
   * As many groups of `size` members as there is room for in that share of what is free; one where there is room for less than that, as the last may go over. Taken until
   * they are given back.
   */
  claim(size: number, share: number): number
  take(rollouts: number): void
  giveBack(rollouts: number): void
  /** Resolves when something is given back, or the signal aborts. */
  room(signal: AbortSignal): Promise<void>
}

export function makeCredits(total: number): Credits {
  let free = total
  const waiting = new Set<() => void>()
  return {
    get free() {
      return Math.max(0, free)
    },
    claim(size, share) {
      if (free <= 0) return 0
      const groups = Math.max(1, Math.floor((free * share) / size))
      free -= groups * size
      return groups
    },
    take(rollouts) {
      free -= rollouts
    },
    giveBack(rollouts) {
      free += rollouts
      if (free > 0) for (const wake of [...waiting]) wake()
    },
    room(signal) {
      return new Promise(resolve => {
        const wake = () => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
        if (signal.aborted || free > 0) wake()
      })
    },
  }
}

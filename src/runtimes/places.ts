/** So many at once; the others wait in the order they came. */
export interface Places {
  /** Resolves with what gives the place back, once. Rejects with the signal's reason while it waits. */
  take(signal: AbortSignal): Promise<() => void>
}

export function makePlaces(width: number): Places {
  const waiting = new Set<() => void>()
  let free = width

  function give(): void {
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    waiting.delete(next)
    next()
  }

  function oneGive(): () => void {
    let isGiven = false
    return () => {
      if (!isGiven) give()
      isGiven = true
    }
  }

  return {
    async take(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free -= 1
        return oneGive()
      }
      await new Promise<void>((resolve, reject) => {
        const leave = () => {
          waiting.delete(enter)
          reject(signal.reason)
        }
        const enter = () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        waiting.add(enter)
        signal.addEventListener('abort', leave, { once: true })
      })
      return oneGive()
    },
  }
}

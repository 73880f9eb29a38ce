/** Lets so many through at once; the others wait in the order they came. Whoever holds it bounds how many may come. */
export interface Gate {
  /** Resolves, or rejects, as `work` does. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
}

export function makeGate(width: number): Gate {
  const waiting: (() => void)[] = []
  let inside = 0
  let next = 0

  function leave(): void {
    inside -= 1
    const enter = waiting[next]
    if (enter === undefined) return
    next += 1
    // Dropping the front of an array one by one is quadratic; so is never dropping it, in memory.
    if (next === waiting.length || next > 1_024) {
      waiting.splice(0, next)
      next = 0
    }
    enter()
  }

  return {
    async run(work) {
      if (inside >= width) await new Promise<void>(resolve => waiting.push(resolve))
      inside += 1
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

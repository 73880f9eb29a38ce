/** Values on their way from one writer to one reader. A writer that is far ahead waits. */
export interface EventQueue<Value> {
  /** Resolves at once while there is room, and when the reader has gone. */
  push(value: Value): Promise<void>
  /** After what is queued, the reader is told; `error` is thrown at it. */
  end(error?: { readonly cause: unknown }): void
  next(): Promise<IteratorResult<Value, undefined>>
  /** The reader wants no more. */
  leave(): void
}

export function makeEventQueue<Value>(limit: number): EventQueue<Value> {
  const values: Value[] = []
  let ending: { readonly error?: { readonly cause: unknown } } | undefined
  let hasLeft = false
  let wakeReader = () => {}
  let wakeWriters: (() => void)[] = []

  function letWritersOn(): void {
    const waiting = wakeWriters
    wakeWriters = []
    for (const wake of waiting) wake()
  }

  return {
    async push(value) {
      if (hasLeft) return
      values.push(value)
      wakeReader()
      while (!hasLeft && values.length >= limit) await new Promise<void>(resolve => wakeWriters.push(resolve))
    },
    end(error) {
      ending ??= error === undefined ? {} : { error }
      wakeReader()
    },
    async next() {
      for (;;) {
        const value = values.shift()
        if (value !== undefined) {
          letWritersOn()
          return { done: false, value }
        }
        if (ending?.error !== undefined && !hasLeft) {
          hasLeft = true
          throw ending.error.cause
        }
        if (ending !== undefined || hasLeft) return { done: true, value: undefined }
        await new Promise<void>(resolve => {
          wakeReader = resolve
        })
      }
    },
    leave() {
      hasLeft = true
      values.length = 0
      letWritersOn()
      wakeReader()
    },
  }
}

/** Runs jobs one after the other, in the order they were given. */
export interface Serial {
  /** Rejects at once, and runs nothing, when as many are waiting as may. */
  run<Value>(job: () => Promise<Value>): Promise<Value>
  /** Refuses what comes from now on and what is still waiting; resolves when the job under way has ended. */
  close(): Promise<void>
}

/** `full` and `closed` make the errors for a job that is not run. */
export function makeSerial(
  maxWaiting: number,
  { full, closed }: { readonly full: () => Error; readonly closed: () => Error },
): Serial {
  let waiting = 0
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()
  return {
    async run(job) {
      if (isClosed) throw closed()
      if (waiting >= maxWaiting) throw full()
      waiting += 1
      const turn = last.then(() => {
        waiting -= 1
        if (isClosed) throw closed()
        return job()
      })
      last = turn.catch(() => {}) // Its caller has the error.
      return await turn
    },
    async close() {
      isClosed = true
      await last
    },
  }
}

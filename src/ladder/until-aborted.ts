/** Rejects with the reason of `signal` as soon as it aborts; `work` goes on, and whoever began it ends it. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const settled = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: settled.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    settled.abort()
  }
}

import { type Clock, sleep } from '../../../clock.ts'

/**
 * Works until it succeeds, or `toPauseMs` gives no pause after an error, of the `tried`-th try, from 1. Rejects with that error, or with the signal's reason
 * while it pauses.
 */
export async function retry<Value>(
  clock: Clock,
  work: () => Promise<Value>,
  toPauseMs: (error: unknown, tried: number) => number | undefined,
  signal?: AbortSignal,
): Promise<Value> {
  for (let tried = 1; ; tried += 1)
    try {
      return await work()
    } catch (error) {
      const pauseMs = toPauseMs(error, tried)
      if (pauseMs === undefined) throw error
      await sleep(clock, pauseMs, signal)
    }
}

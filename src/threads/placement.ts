/** What one thread has to do. */
export interface Load {
  /** Unfinished members there. */
  members: number
  groups: number
  /** It has a suspect to itself. */
  alone: boolean
}

/**
 * The least loaded thread that may have one more group. A suspect, which has taken threads down before, waits for a thread of its own: when that dies too
 * it is known who did it, and groups that only shared a thread with the culprit are not blamed.
 */
export function chooseThread<Thread extends Load>(
  threads: ReadonlyMap<string, Thread>,
  isSuspect: boolean,
): readonly [string, Thread] | undefined {
  let best: readonly [string, Thread] | undefined
  for (const entry of threads) {
    const [, thread] = entry
    if (thread.alone || (isSuspect && thread.groups > 0)) continue
    if (best === undefined || thread.members < best[1].members) best = entry
  }
  return best
}

/**
 * When work that has been made ready runs. The system never calls `run` itself, so a scheduler that keeps what it is given
 * and picks in an order of its own (a deterministic simulation) decides every interleaving.
 */
export interface Scheduler {
  /** After the code that runs now, before anything else of the event loop. */
  microtask(run: () => void): void
  /** After input and output have had their turn. */
  macrotask(run: () => void): void
  /**
   * Which of `count` ready actors has its turn, from 0 for the one that has waited longest. Where it is there, each message of each
   * actor is a turn of its own. Absent: in order of arrival, many messages a turn.
   */
  readonly choose?: (count: number) => number
}

const settled = Promise.resolve()

/** Promise jobs and `setImmediate`: a `nextTick` is six times slower on bursts, `queueMicrotask` wraps each call in a resource. */
export const nodeScheduler: Scheduler = {
  microtask: run => void settled.then(run),
  macrotask: run => void setImmediate(run),
}

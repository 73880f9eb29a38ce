import { fileURLToPath } from 'node:url'
import type { ResourceLimits, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Clock } from '../clock.ts'

/** Piscina, and every thread it ever started that has not ended. */
export interface WorkerPool {
  readonly piscina: Piscina
  /** Ends all threads. Resolves with how many had not ended after `deadlineMs`. */
  destroy(deadlineMs: number): Promise<number>
}

export function makeWorkerPool(threads: number, clock: Clock, resourceLimits?: ResourceLimits): WorkerPool {
  const piscina = new Piscina({
    filename: fileURLToPath(new URL('./worker.js', import.meta.url)),
    // A shard lives as long as its thread: there is never a burst to grow for, nor an idle time to shrink in.
    minThreads: threads,
    maxThreads: threads,
    // Aborting a task ends its whole thread, so no two tasks may share one.
    concurrentTasksPerWorker: 1,
    // The default parks an idle thread inside Atomics.wait, where its timers and its port stand still.
    atomics: 'disabled',
    // A thread between two shards is not idle but about to be used again.
    idleTimeout: Number.POSITIVE_INFINITY,
    // One task a thread: its time says nothing.
    recordTiming: false,
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  })
  // An error of a thread that has no task. The next task finds out, or gets a fresh thread; without a handler it would be fatal.
  piscina.on('error', () => {})
  const alive = new Set<Worker>()
  const track = (): void => {
    for (const worker of piscina.threads) {
      if (alive.has(worker)) continue
      alive.add(worker)
      worker.once('exit', () => alive.delete(worker))
    }
  }
  piscina.on('workerCreate', track)
  track()

  return {
    piscina,
    async destroy(deadlineMs) {
      track()
      // A thread that ends late would otherwise be replaced, by a pool that nobody owns any more.
      piscina.options.minThreads = 0
      const exits = [...alive].map(worker => new Promise(resolve => worker.once('exit', resolve)))
      await within(clock, deadlineMs, Promise.all([...exits, piscina.destroy()]))
      return alive.size
    },
  }
}

/** Resolves when `promise` has settled, or `deadlineMs` from now. */
export async function within(clock: Clock, deadlineMs: number, promise: Promise<unknown>): Promise<void> {
  let cancel = (): void => {}
  const late = new Promise<void>(resolve => {
    cancel = clock.after(deadlineMs, resolve)
  })
  try {
    await Promise.race([promise, late])
  } finally {
    cancel()
  }
}

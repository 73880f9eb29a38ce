import type { JobSnapshot } from '../../job/snapshot.ts'
import type { EngineEvent, WorkersEvent } from '../channels.ts'
import { METRICS } from './catalogue.ts'
import type { MetricsRegistry } from './registry.ts'

/** What `workersWanted` is counted from. */
export interface Demand {
  /** Runs that may go on now: given to workers, or waiting for one that has room. Not those that wait for the trainer to catch up. */
  readonly released: number
  /** `--max-concurrent` of the coordinator: more than that are never handed out. */
  readonly maxConcurrent: number
  readonly workers: number
  /** Of all these workers together. */
  readonly credits: number
}

/**
 * How many workers would be busy. One has the mean of those that are there, or were last; while none has ever told its credits, the first is wanted to
 * hear them. A fraction of a worker is a worker.
 */
export function workersWanted({ released, maxConcurrent, workers, credits }: Demand): number {
  const runs = Math.min(released, maxConcurrent)
  if (runs <= 0) return 0
  return workers === 0 || credits === 0 ? 1 : Math.ceil((runs * workers) / credits)
}

/** The workers of an engine on several machines. On one machine nothing of it is exposed. */
export function makeClusterMetrics(registry: MetricsRegistry): {
  engine(event: EngineEvent): void
  workers(event: WorkersEvent): void
  read(snapshot: Pick<JobSnapshot, 'creditsInUse'>): void
} {
  const known = registry.gauge(METRICS.clusterWorkers)
  const creditsOf = registry.gauge(METRICS.clusterCredits)
  const wanted = registry.gauge(METRICS.workersWanted)
  let last: WorkersEvent | undefined
  /** What one has: of the last time at which there was one. Those that take nothing new, or are not heard of, do not say it. */
  let measure = { workers: 0, credits: 0 }
  let maxConcurrent = 0

  return {
    engine(event) {
      maxConcurrent = event.type === 'started' ? event.maxConcurrent : 0
    },
    workers(event) {
      last = event
      const able = event.each.filter(({ state }) => state === 'joined')
      if (able.length > 0)
        measure = { workers: able.length, credits: able.reduce((sum, worker) => sum + worker.credits, 0) }
    },
    read({ creditsInUse }) {
      if (last === undefined) return
      known.set(last.workers)
      creditsOf.set(last.credits - last.creditsFree, { state: 'used' })
      creditsOf.set(last.creditsFree, { state: 'free' })
      wanted.set(workersWanted({ released: creditsInUse, maxConcurrent, ...measure }))
    },
  }
}

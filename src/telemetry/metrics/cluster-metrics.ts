import type { JobSnapshot } from '../../job/snapshot.ts'
import type { EngineEvent, WorkersEvent } from '../channels.ts'
import { METRICS } from './catalogue.ts'
import type { MetricsRegistry } from './registry.ts'

/** What `workersWanted` is counted from. */
export interface Demand {
  /** Runs that are planned and have not ended. */
  readonly open: number
  /** `--max-concurrent` of the coordinator: more than that are never handed out. */
  readonly maxConcurrent: number
  readonly workers: number
  /** Of all workers together. */
  readonly credits: number
}

/**
 * How many workers would be busy. One has the mean of those that are there, or were last; while none has ever told its credits, the first is wanted to
 * hear them. A fraction of a worker is a worker.
 */
export function workersWanted({ open, maxConcurrent, workers, credits }: Demand): number {
  const runs = Math.min(open, maxConcurrent)
  if (runs <= 0) return 0
  return workers === 0 || credits === 0 ? 1 : Math.ceil((runs * workers) / credits)
}

/** The workers of an engine on several machines. On one machine nothing of it is exposed. */
export function makeClusterMetrics(registry: MetricsRegistry): {
  engine(event: EngineEvent): void
  workers(event: WorkersEvent): void
  read(snapshot: Pick<JobSnapshot, 'plannedRuns' | 'finishedRuns'>): void
} {
  const known = registry.gauge(METRICS.clusterWorkers)
  const creditsOf = registry.gauge(METRICS.clusterCredits)
  const wanted = registry.gauge(METRICS.workersWanted)
  let last: WorkersEvent | undefined
  /** What one has: of the last time at which there was one. */
  let measure = { workers: 0, credits: 0 }
  let maxConcurrent = 0

  return {
    engine(event) {
      maxConcurrent = event.type === 'started' ? event.maxConcurrent : 0
    },
    workers(event) {
      last = event
      if (event.workers > 0) measure = event
    },
    read({ plannedRuns, finishedRuns }) {
      if (last === undefined) return
      known.set(last.workers)
      creditsOf.set(last.credits - last.creditsFree, { state: 'used' })
      creditsOf.set(last.creditsFree, { state: 'free' })
      wanted.set(workersWanted({ open: plannedRuns - finishedRuns, maxConcurrent, ...measure }))
    },
  }
}

import type { Job } from '../../job/job.ts'
import { readVersion } from '../../version.ts'
import { listenToJob, PROBLEM_KINDS } from '../listen.ts'
import { METRICS } from './catalogue.ts'
import { makeClusterMetrics } from './cluster-metrics.ts'
import type { Metrics, MetricsOptions } from './create-metrics.ts'
import { makeEngineMetrics } from './engine-metrics.ts'
import { makeRegistry } from './registry.ts'
import { makeRunMetrics } from './run-metrics.ts'
import { makeTrainingMetrics } from './training-metrics.ts'

/** See `createMetrics`, which loads this. */
export function makeJobMetrics(job: Pick<Job, 'jobId' | 'snapshot'>, { labels = {} }: MetricsOptions): Metrics {
  const registry = makeRegistry(labels)
  registry.gauge(METRICS.info).set(1, { version: readVersion() })
  const runs = makeRunMetrics(registry)
  const engines = makeEngineMetrics(registry)
  const cluster = makeClusterMetrics(registry)
  const training = makeTrainingMetrics(registry)
  const problems = registry.counter(METRICS.problems)
  for (const kind of PROBLEM_KINDS) problems.add(0, { kind })
  const stop = listenToJob(job.jobId, {
    engine(event) {
      engines.engine(event)
      cluster.engine(event)
    },
    workers: cluster.workers,
    run: runs.run,
    group: runs.group,
    training,
    problem: kind => problems.add(1, { kind }),
  })
  return {
    contentType: registry.contentType,
    text() {
      const snapshot = job.snapshot()
      engines.read(snapshot)
      cluster.read(snapshot)
      return registry.text()
    },
    close: stop,
  }
}

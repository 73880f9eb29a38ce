import type { Group } from '../../rollout/group.ts'
import type { RunHeader } from '../../rollout/run.ts'
import { makeBoundedLabel } from './bounded-label.ts'
import { METRICS } from './catalogue.ts'
import type { MetricsRegistry } from './registry.ts'

/** Counts runs and groups as they end. */
export function makeRunMetrics(registry: MetricsRegistry): { run(header: RunHeader): void; group(group: Group): void } {
  const runs = registry.counter(METRICS.runs)
  const stops = registry.counter(METRICS.runStops)
  const retries = registry.counter(METRICS.runRetries)
  const seconds = registry.histogram(METRICS.runSeconds)
  const phases = registry.histogram(METRICS.runPhaseSeconds)
  const rewards = registry.histogram(METRICS.runReward)
  const groups = registry.counter(METRICS.groups)
  const dropped = registry.counter(METRICS.groupsDropped)
  const environmentLabel = makeBoundedLabel()
  for (const status of ['complete', 'partial', 'dropped']) groups.add(0, { status })

  return {
    run({ outcome, task, stopReason, attempt, startedAt, endedAt, timings, reward }) {
      runs.add(1, { outcome, environment: environmentLabel(task.env) })
      stops.add(1, { reason: stopReason })
      retries.add(attempt - 1)
      seconds.observe((endedAt - startedAt) / 1_000, { outcome })
      for (const [phase, ms] of Object.entries(timings)) phases.observe(ms / 1_000, { phase })
      if (reward !== null) rewards.observe(reward)
    },
    group({ end }) {
      groups.add(1, { status: end.type })
      if (end.type === 'dropped') dropped.add(1, { reason: end.reason })
    },
  }
}

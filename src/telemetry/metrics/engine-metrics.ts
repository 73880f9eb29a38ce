import type { JobSnapshot } from '../../job/snapshot.ts'
import type { PoolStats } from '../../pool/stats.ts'
import type { EngineEvent } from '../channels.ts'
import { METRICS } from './catalogue.ts'
import type { MetricsRegistry } from './registry.ts'

/** What is read when somebody asks, and the engines that there are. */
export function makeEngineMetrics(registry: MetricsRegistry): {
  engine(event: EngineEvent): void
  read(snapshot: JobSnapshot): void
} {
  const jobRuns = registry.gauge(METRICS.jobRuns)
  const inFlight = registry.gauge(METRICS.runsInFlight)
  const creditsInUse = registry.gauge(METRICS.creditsInUse)
  const creditsLimit = registry.gauge(METRICS.creditsLimit)
  const waitingBytes = registry.gauge(METRICS.waitingBytes)
  const loopDelay = registry.gauge(METRICS.loopDelay)
  const cpu = registry.counter(METRICS.engineCpu)
  const memory = registry.gauge(METRICS.engineMemory)
  const engines = registry.gauge(METRICS.engines)
  const readPool = makePoolMetrics(registry)
  let running = 0
  let limit = 0

  return {
    engine(event) {
      running += event.type === 'started' ? 1 : -1
      if (event.type === 'started') limit = event.maxConcurrent
      if (running === 0) limit = 0
      engines.set(running)
      creditsLimit.set(limit)
    },
    read(snapshot) {
      jobRuns.set(snapshot.plannedRuns, { state: 'planned' })
      jobRuns.set(snapshot.finishedRuns, { state: 'finished' })
      jobRuns.set(snapshot.graded, { state: 'graded' })
      inFlight.set(running === 0 ? 0 : snapshot.inFlight)
      creditsInUse.set(snapshot.creditsInUse)
      waitingBytes.set(snapshot.waitingBytes)
      loopDelay.set(snapshot.loopDelayP99Ms / 1_000)
      cpu.setTotal(snapshot.engineCpuMs / 1_000)
      memory.set(snapshot.engineRssBytes)
      if (snapshot.pool !== undefined) readPool(snapshot.pool)
    },
  }
}

function makePoolMetrics(registry: MetricsRegistry): (pool: PoolStats) => void {
  const sandboxes = registry.gauge(METRICS.poolSandboxes)
  const target = registry.gauge(METRICS.poolTarget)
  const waiting = registry.gauge(METRICS.poolWaiting)
  const leases = registry.counter(METRICS.poolLeases)
  const created = registry.counter(METRICS.poolCreated)
  const gone = registry.counter(METRICS.poolGone)
  const failures = registry.counter(METRICS.poolCreateFailures)
  const breaker = registry.gauge(METRICS.poolBreaker)
  return pool => {
    for (const state of ['creating', 'ready', 'leased', 'deleting', 'quarantined'] as const)
      sandboxes.set(pool[state], { state })
    sandboxes.set(pool.parents.kept, { state: 'parent' })
    target.set(pool.target)
    waiting.set(pool.waiting)
    for (const [kind, count] of Object.entries(pool.leases)) leases.setTotal(count, { kind })
    created.setTotal(pool.created)
    gone.setTotal(pool.gone)
    failures.setTotal(pool.createFailures)
    breaker.set(pool.breaker === undefined ? 0 : 1)
  }
}

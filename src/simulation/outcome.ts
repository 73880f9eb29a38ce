import type { LeaseKind } from '../runtimes/runtime.ts'
import type { SandboxSeconds } from './census.ts'
import { ascending, mean, quantile } from './quantile.ts'

/** What became of one step. Milliseconds. */
export interface StepOutcome {
  readonly step: number
  readonly beganMs: number
  /** From the first request to the last rollout's end. */
  readonly latencyMs: number
  /** Of each rollout that got a sandbox, how long it waited for it. */
  readonly waitsMs: readonly number[]
  readonly leases: Readonly<Record<LeaseKind, number>>
  readonly refused: number
}

/** How one simulated job fared. */
export interface Outcome {
  readonly steps: readonly StepOutcome[]
  /** Over the whole job, from its begin until every sandbox is gone. */
  readonly seconds: SandboxSeconds
  /** Between steps, from when the pool was told of the next until all that it holds were ready; absent where the step began before. */
  readonly fillsMs: readonly number[]
  readonly created: number
  readonly createFailures: number
  readonly peak: number
  /** Simulated. */
  readonly endedMs: number
  readonly events: number
}

/** The figures by which plans are compared. Times in milliseconds. */
export interface Figures {
  readonly stepMs: number
  readonly waitMs: { readonly mean: number; readonly p50: number; readonly p95: number; readonly max: number }
  /** The share of leases that found a sandbox ready. */
  readonly hitRate: number
  /** The share that was claimed from the provider's pool. */
  readonly claimRate: number
  readonly refused: number
  readonly idleSeconds: number
  readonly usedSeconds: number
  readonly creates: number
  readonly peak: number
}

/**
 * The first step finds nothing ready whatever the plan, since nobody is told of it beforehand: where there are others, latency, waits and hits are theirs alone.
 * Sandbox-seconds and creates are a step's share of the whole job.
 */
export function toFigures({ steps, seconds, created, peak }: Outcome): Figures {
  const counted = steps.length > 1 ? steps.slice(1) : steps
  const waits = ascending(counted.flatMap(({ waitsMs }) => waitsMs))
  const leases = (kind: LeaseKind) => counted.reduce((sum, step) => sum + step.leases[kind], 0)
  return {
    stepMs: mean(counted.map(({ latencyMs }) => latencyMs)),
    waitMs: { mean: mean(waits), p50: quantile(waits, 0.5), p95: quantile(waits, 0.95), max: quantile(waits, 1) },
    hitRate: leases('hit') / waits.length,
    claimRate: leases('claim') / waits.length,
    refused: counted.reduce((sum, step) => sum + step.refused, 0),
    idleSeconds: seconds.idle / steps.length,
    usedSeconds: seconds.used / steps.length,
    creates: created / steps.length,
    peak,
  }
}

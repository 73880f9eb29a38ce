import type { JobSnapshot } from '../job/snapshot.ts'
import type { PoolStats } from '../pool/stats.ts'
import type { Group } from '../rollout/group.ts'
import type { Outcome, RunHeader } from '../rollout/run.ts'
import { countFailures, type FailureKind } from './failures.ts'
import { type FacetTable, toFacetTables, toVariants, type Variant } from './pass-rates.ts'
import { measureSpread, type RewardSpread } from './spread.ts'
import { type StageTiming, timeStages } from './timings.ts'

/** What a report is made from; nothing else is looked at. */
export interface ReportSource {
  readonly jobId: string
  readonly name: string
  readonly seed: number | undefined
  readonly runs: readonly RunHeader[]
  readonly groups: readonly Pick<Group, 'end' | 'task' | 'runs'>[]
  readonly snapshot: JobSnapshot
  /** From the start of the run to the last group's end. */
  readonly wallMs: number
  /** Chunks of whole groups that were made; absent where none were asked for. */
  readonly chunks?: { readonly count: number; readonly runs: number; readonly bytes: number }
  /** The least reward that counts as passed. Default 1. */
  readonly passAt?: number
}

/** How a run of a taskset went. Plain data: what `--json` prints. */
export interface Report {
  readonly jobId: string
  readonly name: string
  readonly seed: number | undefined
  readonly runs: {
    readonly planned: number
    readonly finished: number
    /** Those of them that an earlier process of the same job had finished; throughput and cost leave them out. */
    readonly recalled: number
    readonly graded: number
    readonly passed: number
    readonly byOutcome: Readonly<Record<Outcome, number>>
  }
  readonly groups: {
    readonly planned: number
    readonly finished: number
    readonly complete: number
    readonly partial: number
    readonly dropped: Readonly<Record<string, number>>
  }
  /** Of the graded runs; null when there are none. */
  readonly passRate: number | null
  readonly meanReward: number | null
  readonly variants: readonly Variant[]
  readonly facets: readonly FacetTable[]
  readonly spread: RewardSpread
  readonly failures: readonly FailureKind[]
  readonly stages: readonly StageTiming[]
  readonly leases: {
    readonly hit: number
    readonly cold: number
    readonly claim: number
    readonly fork: number
    /** Share of leases that were hits; null without a lease. */
    readonly hitRate: number | null
  }
  /** The pool's own figures when it was last asked; null when it never was. */
  readonly pool: PoolStats | null
  readonly engine: {
    readonly cpuMs: number
    readonly cpuMsPerRun: number | null
    readonly peakRssBytes: number
    readonly peakInFlight: number
    readonly peakRssBytesPerRun: number | null
    readonly loopDelayP99Ms: number
  }
  readonly wallMs: number
  readonly runsPerSecond: number | null
  readonly chunks: ReportSource['chunks'] | null
}

/** Ungraded runs have no reward: they count as failures, never as zero. */
export function makeReport(source: ReportSource): Report {
  const { runs, groups, snapshot, wallMs } = source
  const passAt = source.passAt ?? 1
  const rewards = runs.flatMap(run => (run.reward === null ? [] : [run.reward]))
  const passed = rewards.filter(reward => reward >= passAt).length
  const own = runs.filter(run => run.startedAt >= snapshot.startedAt).length
  const leases = { hit: 0, cold: 0, claim: 0, fork: 0 }
  for (const run of runs) if (run.lease !== null) leases[run.lease] += 1
  return {
    jobId: source.jobId,
    name: source.name,
    seed: source.seed,
    runs: {
      planned: snapshot.plannedRuns,
      finished: runs.length,
      recalled: runs.length - own,
      graded: rewards.length,
      passed,
      byOutcome: countOutcomes(runs),
    },
    groups: countGroups(groups, snapshot.plannedGroups),
    passRate: ratio(passed, rewards.length),
    meanReward: ratio(
      rewards.reduce((sum, reward) => sum + reward, 0),
      rewards.length,
    ),
    variants: toVariants(runs, passAt),
    facets: toFacetTables(runs, passAt),
    spread: measureSpread(groups),
    failures: countFailures(runs),
    stages: timeStages(runs),
    leases: { ...leases, hitRate: ratio(leases.hit, leases.hit + leases.cold + leases.claim + leases.fork) },
    pool: snapshot.pool ?? null,
    engine: {
      cpuMs: snapshot.engineCpuMs,
      cpuMsPerRun: ratio(snapshot.engineCpuMs, own),
      peakRssBytes: snapshot.peakRssBytes,
      peakInFlight: snapshot.peakInFlight,
      peakRssBytesPerRun: ratio(snapshot.peakRssBytes, snapshot.peakInFlight),
      loopDelayP99Ms: snapshot.loopDelayP99Ms,
    },
    wallMs,
    runsPerSecond: ratio(own * 1000, wallMs),
    chunks: source.chunks ?? null,
  }
}

/** True when every run that was planned has a reward. */
export function isWhole(report: Report): boolean {
  return report.runs.graded === report.runs.planned
}

function countOutcomes(runs: readonly RunHeader[]): Record<Outcome, number> {
  const counts = { graded: 0, 'agent-error': 0, 'environment-error': 0, 'infrastructure-error': 0, cancelled: 0 }
  for (const run of runs) counts[run.outcome] += 1
  return counts
}

function countGroups(groups: ReportSource['groups'], planned: number): Report['groups'] {
  const dropped: Record<string, number> = {}
  let complete = 0
  let partial = 0
  for (const { end } of groups) {
    if (end.type === 'complete') complete += 1
    else if (end.type === 'partial') partial += 1
    else dropped[end.reason] = (dropped[end.reason] ?? 0) + 1
  }
  return { planned, finished: groups.length, complete, partial, dropped }
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

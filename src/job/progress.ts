import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../clock.ts'
import type { PoolStats } from '../pool/stats.ts'
import type { Outcome, RunHeader } from '../rollout/run.ts'
import type { JobSnapshot } from './snapshot.ts'

/** Counts what happens to a job's runs, and reads what the process costs meanwhile. */
export interface Progress {
  planned(groups: number, runs: number): void
  /** Runs that an earlier process finished count as planned and finished, not as this process's work. */
  runOver(header: RunHeader): void
  groupOver(): void
  poolSeen(stats: PoolStats): void
  snapshot(now: { readonly waitingBytes: number; readonly creditsInUse: number }): JobSnapshot
  close(): void
}

/** Milliseconds between samples of the main thread's timer: fine enough to see a block of 10 ms. */
const LOOP_RESOLUTION_MS = 5

export function makeProgress(clock: Clock): Progress {
  const startedAt = clock.wallTime()
  const cpuAtStart = process.cpuUsage()
  const delay: IntervalHistogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  delay.enable()
  const byOutcome: Record<Outcome, number> = {
    graded: 0,
    'agent-error': 0,
    'environment-error': 0,
    'infrastructure-error': 0,
    cancelled: 0,
  }
  let plannedRuns = 0
  let plannedGroups = 0
  let finishedRuns = 0
  let finishedGroups = 0
  let graded = 0
  let passed = 0
  let rewardSum = 0
  let peakInFlight = 0
  let rssBytes = 0
  let peakRssBytes = 0
  let pool: PoolStats | undefined
  let poolSeenAt = 0
  let sandboxMs = 0

  function readRss(): void {
    try {
      rssBytes = process.memoryUsage.rss()
    } catch {
      // Without a descriptor left it cannot be read: what was known stands, and a figure costs no run its end.
    }
    peakRssBytes = Math.max(peakRssBytes, rssBytes)
  }

  return {
    planned(groups, runs) {
      plannedGroups += groups
      plannedRuns += runs
    },
    runOver(header) {
      finishedRuns += 1
      byOutcome[header.outcome] += 1
      if (header.reward === null) return
      graded += 1
      if (header.reward >= 1) passed += 1
      rewardSum += header.reward
    },
    groupOver() {
      finishedGroups += 1
    },
    poolSeen(stats) {
      const now = clock.now()
      if (pool !== undefined) sandboxMs += (pool.created - pool.gone) * (now - poolSeenAt)
      poolSeenAt = now
      pool = stats
      peakInFlight = Math.max(peakInFlight, stats.leased)
      readRss()
    },
    snapshot({ waitingBytes, creditsInUse }) {
      const { user, system } = process.cpuUsage(cpuAtStart)
      readRss()
      return {
        plannedRuns,
        plannedGroups,
        finishedRuns,
        finishedGroups,
        graded,
        passed,
        rewardSum,
        inFlight: pool?.leased ?? 0,
        peakInFlight,
        byOutcome: { ...byOutcome },
        pool,
        sandboxMs,
        waitingBytes,
        creditsInUse,
        engineCpuMs: (user + system) / 1_000,
        engineRssBytes: rssBytes,
        peakRssBytes,
        loopDelayP99Ms: Math.max(0, delay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
        startedAt,
      }
    },
    close: () => void delay.disable(),
  }
}

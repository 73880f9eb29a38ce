import { monitorEventLoopDelay } from 'node:perf_hooks'
import { childrenOf, cpuMsOf, ownBytesOf } from './proc-stat.ts'

/** What one measured run found; printed as one line of JSON by the process that made it. */
export interface EngineFigures {
  readonly rollouts: number
  readonly wallMs: number
  readonly perSecond: number
  /** CPU ms a rollout of the engine's process, and of the environment host's. */
  readonly engineCpuMs: number
  readonly hostCpuMs: number
  /** Of the main thread, above the sampling interval. */
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  readonly peakRssBytes: number
  /** The process's own memory at that peak, without pages of files that it has mapped (the journal): the kernel takes those back as it likes. */
  readonly peakOwnBytes: number
}

export interface EngineCase {
  readonly kind: 'each' | 'multiplexed' | 'plain'
  readonly width: number
  readonly rollouts: number
  /** What the agent waits in each rollout; 0 measures the engine alone. */
  readonly waitMs: number
}

const LOOP_RESOLUTION_MS = 1
const RSS_LOOK_MS = 50

/** Runs `work`, which resolves with how many rollouts it did, and takes the figures of this process and of its children. */
export async function takeFigures(work: () => Promise<number>): Promise<EngineFigures> {
  const hosts = childrenOf(process.pid)
  const hostBefore = hosts.map(cpuMsOf)
  const cpuBefore = process.cpuUsage()
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  delay.enable()
  let peakRssBytes = 0
  let peakOwnBytes = 0
  const look = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss())
    peakOwnBytes = Math.max(peakOwnBytes, ownBytesOf('self'))
  }, RSS_LOOK_MS)
  const startedAt = performance.now()
  const rollouts = await work()
  const wallMs = performance.now() - startedAt
  clearInterval(look)
  delay.disable()
  const { user, system } = process.cpuUsage(cpuBefore)
  const hostCpu = hosts.reduce((sum, pid, at) => sum + cpuMsOf(pid) - (hostBefore[at] ?? 0), 0)
  return {
    rollouts,
    wallMs,
    perSecond: (rollouts / wallMs) * 1_000,
    engineCpuMs: (user + system) / 1_000 / rollouts,
    hostCpuMs: hostCpu / rollouts,
    loopP99Ms: Math.max(0, delay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
    loopMaxMs: delay.max / 1e6,
    peakRssBytes,
    peakOwnBytes,
  }
}

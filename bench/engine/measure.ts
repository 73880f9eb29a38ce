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
}

export interface EngineCase {
  readonly kind: 'each' | 'multiplexed' | 'plain'
  readonly width: number
  readonly rollouts: number
  /** What the agent waits in each rollout; 0 measures the engine alone. */
  readonly waitMs: number
}

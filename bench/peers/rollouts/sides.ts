/** The sides of the no-op comparison, all called alike. */
import type { HudProcess } from '../hud/process.ts'
import { watchTree } from '../process-tree.ts'
import { startOurs } from './calls.ts'

const ROUND_MS = 240_000
const GRACE_MS = 20_000

/** One round of no-op rollouts. CPU in milliseconds a rollout, memory in bytes. */
export interface RolloutFigures {
  readonly perSecond: number
  readonly engineCpuMs: number
  /** Of everything that runs beside the engine on its behalf: environment host, or a process a rollout. */
  readonly othersCpuMs: number
  readonly loopP99Ms: number
  /** Resident, of the engine and of everything beside it. */
  readonly peakBytes: number
}

export interface Side {
  readonly name: string
  round(rollouts: number, width: number): Promise<RolloutFigures>
  close(): Promise<void>
}

export function openOurSide(name: string, connections: 'each' | 'shared'): Side {
  const child = startOurs({ connections })
  return {
    name,
    async round(rollouts, width) {
      const memory = watchTree(child.pid ?? 0)
      try {
        const { perSecond, engineCpuMs, hostCpuMs, loopP99Ms } = await child.call(
          'rollouts',
          { rollouts, width },
          ROUND_MS,
        )
        return { perSecond, engineCpuMs, othersCpuMs: hostCpuMs, loopP99Ms, peakBytes: memory.stop() }
      } finally {
        memory.stop()
      }
    },
    close: () => child.end(GRACE_MS),
  }
}

/** Of HUD's process, which the caller ends: `local` serves the environment in that process, `subprocess` starts one for each rollout. */
export function toHudSide(name: string, hud: HudProcess, runtime: 'local' | 'subprocess'): Side {
  return {
    name,
    async round(rollouts, width) {
      const memory = watchTree(hud.pid)
      try {
        const { wallMs, ownCpuMs, childCpuMs, loopP99Ms } = await hud.rollouts({ runtime, rollouts, width }, ROUND_MS)
        return {
          perSecond: (rollouts / wallMs) * 1_000,
          engineCpuMs: ownCpuMs / rollouts,
          othersCpuMs: childCpuMs / rollouts,
          loopP99Ms,
          peakBytes: memory.stop(),
        }
      } finally {
        memory.stop()
      }
    },
    close: async () => {},
  }
}

import type { Level } from '../../../src/ladder/level.ts'

/** The sides that take turns at each width. `lean` is HUD's without root certificates: see `HudSettings`. */
export const SIDES = ['hud cold', 'hud cold lean', 'cold', 'hud pool lean', 'provider-pool', 'prewarm'] as const
export type SideName = (typeof SIDES)[number]

/** One level of one side. */
export interface SandboxFigures {
  /** From asking until `hello` was answered, a sandbox each. */
  readonly usableMs: readonly number[]
  readonly failures: readonly string[]
  readonly leaked: number
  /** What was waited for until the pool was full; 0 where there is none. */
  readonly fillMs: number
  /** Of the client's process, a sandbox made usable and given back. */
  readonly cpuMs: number
  readonly loopP99Ms: number
  /** Resident memory of the client's process. */
  readonly peakBytes: number
}

export interface SandboxLevel extends SandboxFigures {
  readonly side: SideName
  readonly width: number
}

export function toFigures(level: Level): SandboxFigures {
  return {
    usableMs: level.samples.map(({ usableMs }) => usableMs),
    failures: level.failures.map(({ tag, message }) => `${tag}: ${message}`),
    leaked: level.leaked,
    fillMs: level.fillMs,
    cpuMs: (level.cpuMs + level.fillCpuMs) / level.cell.width,
    loopP99Ms: level.loopP99Ms,
    peakBytes: level.peakRssBytes,
  }
}

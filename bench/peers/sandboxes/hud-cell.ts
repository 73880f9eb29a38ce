import { setTimeout as wait } from 'node:timers/promises'
import { TroupeError } from '../../../src/errors.ts'
import { countLeft, readState } from '../../../src/ladder/emulator/emulator-state.ts'
import { startEmulatorProcess } from '../../../src/ladder/emulator/start-emulator-process.ts'
import type { EmulatorPlace } from '../../../src/ladder/process/calls.ts'
import { toEmulatorSettings } from '../../ladder/measuring.ts'
import { type HudProcess, startHud } from '../hud/process.ts'
import { watchTree } from '../process-tree.ts'
import type { SandboxFigures } from './figures.ts'

/** The one that every account has; as in our client's cells, what it serves is the emulator's choice. */
const SNAPSHOT = 'daytonaio/sandbox'
const START_MS = 60_000
const LEVEL_MS = 300_000
const READY_MS = 200_000
const GONE_MS = 20_000
const GRACE_MS = 60_000
const LOOK_MS = 100

/** HUD's `DaytonaRuntime` at one width, with an emulator of its own. */
export interface HudCell {
  open(): Promise<void>
  measure(): Promise<SandboxFigures>
  end(): Promise<void>
}

export interface HudCellSettings {
  readonly python: string
  readonly width: number
  readonly seed: number
  /** Whether the provider has a warm pool of as many. */
  readonly pool: boolean
  readonly lean: boolean
}

export function makeHudCell({ python, width, seed, pool, lean }: HudCellSettings): HudCell {
  const emulator = startEmulatorProcess(toEmulatorSettings(seed))
  let place: EmulatorPlace | undefined
  let hud: HudProcess | undefined
  let ending: Promise<void> | undefined

  async function end() {
    try {
      await hud?.end(GRACE_MS)
    } finally {
      await emulator.end(GRACE_MS)
    }
  }

  return {
    async open() {
      place = await emulator.call('place', undefined, START_MS)
      if (ending !== undefined) return
      hud = await startHud(python, { place, lean })
      // What the SDK imports and finds out with the first sandbox is no part of any level.
      const { failures } = await hud.usable({ width: 1, snapshot: SNAPSHOT }, LEVEL_MS)
      if (failures[0] !== undefined) throw refused(failures[0])
      if (pool) await createWarmPool(place, width)
    },
    async measure() {
      if (place === undefined || hud === undefined) throw refused('it was never opened')
      const filling = performance.now()
      if (pool) await untilUnclaimed(place, width)
      const fillMs = pool ? performance.now() - filling : 0
      const memory = watchTree(hud.pid)
      try {
        const level = await hud.usable({ width, snapshot: SNAPSHOT }, LEVEL_MS)
        const peakBytes = memory.stop()
        return {
          usableMs: level.usableMs,
          failures: level.failures,
          leaked: await countLeft(place, ({ unclaimed }) => unclaimed, GONE_MS),
          fillMs,
          cpuMs: level.ownCpuMs / width,
          loopP99Ms: level.loopP99Ms,
          peakBytes,
        }
      } finally {
        memory.stop()
      }
    },
    end: () => (ending ??= end()),
  }
}

/** As an operator does it before a run; HUD's SDK itself knows nothing of it. */
async function createWarmPool({ url, apiKey }: EmulatorPlace, size: number): Promise<void> {
  const answer = await fetch(`${url}/warm-pools`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ snapshot: SNAPSHOT, pool: size }),
  })
  if (!answer.ok) throw refused(`its warm pool was answered with ${answer.status}: ${await answer.text()}`)
}

/** By the emulator's own count: what the provider reports is full long before the members exist. */
async function untilUnclaimed(place: EmulatorPlace, size: number): Promise<void> {
  const deadline = performance.now() + READY_MS
  while ((await readState(place)).unclaimed < size) {
    if (performance.now() > deadline) throw refused(`its pool did not fill within ${READY_MS / 1_000} s`)
    await wait(LOOK_MS)
  }
}

const refused = (why: string) => new TroupeError({ tag: 'hud-cell', message: `HUD's DaytonaRuntime: ${why}` })

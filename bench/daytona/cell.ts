import { TroupeError } from '../../src/errors.ts'
import { toAdded } from './added.ts'
import type { Child } from './child.ts'
import { countLeft, readTimelines } from './emulator-state.ts'
import type { Cell, Level } from './level.ts'
import {
  type ClientCalls,
  type EmulatorPlace,
  type EmulatorSettings,
  startClientProcess,
  startEmulatorProcess,
} from './processes.ts'

const START_MS = 60_000
const READY_MS = 200_000
const LEVEL_MS = 240_000
/** A sandbox takes half a second to be deleted; a pool's members may be deleted in a row. */
const GONE_MS = 20_000
/** Those of a level, and of what a pool or a fork makes meanwhile. */
const TIMELINES = 2_000
/** A drain has a deadline of its own below this. */
const CLIENT_GRACE_MS = 70_000
const EMULATOR_GRACE_MS = 30_000

/** Far above what any ladder asks for: its creates are to be bound by latency, not by the account's 600 a minute. */
export const LADDER_LIMITS: EmulatorSettings['limits'] = {
  authenticated: 10_000_000,
  'sandbox-create': 1_000_000,
  'sandbox-lifecycle': 1_000_000,
}

/** One mode at one width: its emulator and its client, each in a process of its own. */
export interface OpenCell {
  readonly cell: Cell
  /** Resolves when a first sandbox, which is not counted, has been made, reached and given back. */
  open(): Promise<void>
  /** `again`: what the provider itself makes ready for the next level may begin at once. */
  measure(repetition: number, again: boolean): Promise<Level>
  /** Ends both processes, in order; resolves with how many sandboxes existed when the client had gone. Twice is once. */
  end(): Promise<{ readonly left: number }>
}

export function makeOpenCell(cell: Cell, seed: number): OpenCell {
  const emulator = startEmulatorProcess({ seed, limits: LADDER_LIMITS })
  /** The provider fills its pool by itself, which costs nobody anything: it may while others are measured. */
  const early = cell.mode === 'provider-pool'
  let place: EmulatorPlace | undefined
  let client: Child<ClientCalls> | undefined
  let preparing: Promise<number> | undefined
  let ending: Promise<{ readonly left: number }> | undefined

  function opened() {
    if (place === undefined || client === undefined || ending !== undefined)
      throw new TroupeError({ tag: 'bench-cell-closed', message: 'it was never opened, or has been closed' })
    return { place, client }
  }

  function prepare(): Promise<number> {
    preparing ??= opened().client.call('prepare', undefined, READY_MS)
    preparing.catch(() => {}) // `measure` awaits it too
    return preparing
  }

  async function end() {
    await client?.end(CLIENT_GRACE_MS)
    try {
      return { left: place === undefined ? 0 : await countLeft(place, () => 0, GONE_MS) }
    } finally {
      await emulator.end(EMULATOR_GRACE_MS)
    }
  }

  return {
    cell,
    async open() {
      place = await emulator.call('place', undefined, START_MS)
      if (ending !== undefined) return
      client = startClientProcess({ cell, place })
      await client.call('warm-up', undefined, START_MS)
      if (early) void prepare()
    },
    async measure(repetition, again) {
      const at = opened()
      await prepare()
      preparing = undefined
      const before = await emulator.call('usage', undefined, START_MS)
      const figures = await at.client.call('measure', undefined, LEVEL_MS)
      const timelines = await readTimelines(at.place, TIMELINES)
      const held = figures.pool?.held ?? 0
      const leaked = await countLeft(at.place, ({ unclaimed }) => unclaimed + held, GONE_MS)
      const after = await emulator.call('usage', undefined, START_MS)
      if (early && again) void prepare()
      return {
        ...figures,
        cell,
        repetition,
        leaked,
        emulatorCpuMs: after.cpuMs - before.cpuMs,
        emulatorCreated: after.created - before.created,
        added: toAdded(figures.samples, timelines),
      }
    },
    end: () => (ending ??= end()),
  }
}

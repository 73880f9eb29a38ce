import { countLeft } from './emulator/emulator-state.ts'
import { startEmulatorProcess } from './emulator/start-emulator-process.ts'
import { cellClosed } from './errors.ts'
import type { Cell, Level, Prepared } from './level.ts'
import type { LadderPorts } from './ports.ts'
import type { ClientCalls, EmulatorPlace, MeasureArgument } from './process/calls.ts'
import type { Child } from './process/child.ts'

const START_MS = 120_000
const READY_MS = 200_000
const LEVEL_MS = 600_000
/** A sandbox takes half a second to be deleted; a pool's members may be deleted in a row. */
const GONE_MS = 20_000
/** A drain has a deadline of its own below this. */
const CLIENT_GRACE_MS = 70_000
const EMULATOR_GRACE_MS = 30_000

/** One strategy at one width: its client, and its emulator if the ladder starts one, each in a process of its own. */
export interface OpenCell {
  readonly cell: Cell
  /** Where its emulator is; undefined where it has none, or before it is open. */
  readonly place: EmulatorPlace | undefined
  /** Resolves when a first sandbox, which is not counted, has been made, reached and given back. */
  open(): Promise<void>
  /** Makes ready what the cell holds ready, for `demand` sandboxes to come (default: one level's); resolves when it exists. Also measures a refill. */
  prepare(demand?: number): Promise<Prepared>
  /**
   * One level with whatever is ready now. `fill`: what `prepare` answered, where that belongs to this level. With `settle: false` the next may follow while
   * sandboxes are still made and deleted, and what has leaked is not counted.
   */
  measure(repetition: number, fill?: Prepared, how?: MeasureArgument): Promise<Level>
  /** Ends both processes, in order; resolves with how many sandboxes existed when the client had gone, as far as an emulator tells. Twice is once. */
  end(): Promise<{ readonly left: number }>
}

export function makeOpenCell(cell: Cell, { startClient, emulator: settings }: LadderPorts): OpenCell {
  const emulator = settings === undefined ? undefined : startEmulatorProcess(settings)
  let place: EmulatorPlace | undefined
  let client: Child<ClientCalls> | undefined
  let ending: Promise<{ readonly left: number }> | undefined

  function opened(): Child<ClientCalls> {
    if (client === undefined || ending !== undefined) throw cellClosed()
    return client
  }

  const usage = () => emulator?.call('usage', undefined, START_MS)

  async function countLeaked(own: number, owned: number): Promise<number> {
    // Whoever runs the emulator sees what no listing shows.
    if (place === undefined) return own
    return Math.max(own, await countLeft(place, ({ unclaimed }) => unclaimed + owned + anchorsOf(cell), GONE_MS))
  }

  async function end() {
    await client?.end(CLIENT_GRACE_MS)
    try {
      return { left: place === undefined ? 0 : await countLeft(place, () => 0, GONE_MS) }
    } finally {
      await emulator?.end(EMULATOR_GRACE_MS)
    }
  }

  return {
    cell,
    get place() {
      return place
    },
    async open() {
      place = await emulator?.call('place', undefined, START_MS)
      if (ending !== undefined) return
      client = startClient(cell, place)
      await client.call('warm-up', undefined, START_MS)
    },
    prepare: (demand = cell.width) => opened().call('prepare', { demand }, READY_MS),
    async measure(repetition, fill, how) {
      const at = opened()
      const before = await usage()
      const figures = await at.call('measure', how, LEVEL_MS)
      const isSettled = how?.settle !== false
      const leaked = isSettled ? await countLeaked(figures.leaked, figures.pool?.owned ?? 0) : figures.leaked
      const after = await usage()
      return {
        ...figures,
        cell,
        repetition,
        leaked,
        fillMs: fill?.tookMs ?? 0,
        fillCpuMs: fill?.cpuMs ?? 0,
        ...(before === undefined || after === undefined ? {} : { emulatorCpuMs: after.cpuMs - before.cpuMs }),
      }
    },
    end: () => (ending ??= end()),
  }
}

/** The sandbox by which the provider's pool is known to be ours, for as long as it is held. */
const anchorsOf = ({ strategy }: Cell): number => (strategy === 'provider-pool' ? 1 : 0)

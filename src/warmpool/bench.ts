/** What `troupe warmpool` and `troupe fork-bench` share: cells in turn, what fails is kept, what is done is told at once. */
import { toErrorData } from '../errors.ts'
import { makeOpenCell, type OpenCell } from '../ladder/cell.ts'
import type { Cell } from '../ladder/level.ts'
import type { LadderPorts } from '../ladder/ports.ts'
import { untilAborted } from '../ladder/until-aborted.ts'
import type { LevelRow, MomentRow, PoolMeasurement } from './columns.ts'
import { makeTimeLine, type TimeLine } from './time-line.ts'
import { toLevelRow } from './to-level-row.ts'

export interface PoolRun extends PoolMeasurement {
  /** Why there is not all that was asked for; empty when there is. */
  readonly problems: readonly string[]
}

/** Is told after each level, so that what is done can be kept whatever comes. */
export type OnLevel = (soFar: PoolMeasurement) => Promise<void> | void

/** One of the things that take turns. */
export interface Contestant {
  /** As problems call it. */
  readonly name: string
  readonly cell: Cell
  /** All that is done in one repetition. */
  round(open: OpenCell, repetition: number, record: Recorder): Promise<void>
}

export interface Recorder {
  level(row: LevelRow): Promise<void>
  /** Of the first repetition; later ones are not kept. */
  readonly held: Pick<TimeLine, 'add'>
}

/**
 * Opens all, then lets them take turns: A B A B, so that a busy moment of the machine falls on all alike. An abort ends it after what is under way was cut off;
 * all that was started is ended.
 */
export async function takeTurns(
  contestants: readonly Contestant[],
  repetitions: number,
  ports: LadderPorts,
  onLevel: OnLevel,
): Promise<PoolRun> {
  const { signal, say } = ports
  const levels: LevelRow[] = []
  const problems: string[] = []
  const lines = new Map<Contestant, TimeLine>()
  const moments = (): readonly MomentRow[] => [...lines.values()].flatMap(line => line.rows())

  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await untilAborted(work(), signal)
    } catch (error) {
      if (!signal.aborted) problems.push(`${what}: ${toErrorData(error).message}`)
    }
  }

  const makeRecorder = (contestant: Contestant, repetition: number): Recorder => ({
    async level(row) {
      if (signal.aborted) return
      levels.push(row)
      say(toLine(contestant.name, row))
      await onLevel({ levels, moments: moments() })
    },
    held: (repetition === 1 ? lines.get(contestant) : undefined) ?? { add() {} },
  })

  const opened = new Map<Contestant, OpenCell>()
  const started: OpenCell[] = []
  try {
    for (const contestant of contestants) {
      if (contestant.cell.strategy !== 'cold') lines.set(contestant, makeTimeLine(contestant.cell.parents))
      await attempt(contestant.name, async () => {
        if (signal.aborted) return
        const cell = makeOpenCell(contestant.cell, ports)
        started.push(cell)
        await cell.open()
        opened.set(contestant, cell)
      })
    }
    for (let repetition = 1; repetition <= repetitions; repetition += 1)
      for (const [contestant, cell] of opened) {
        if (signal.aborted) break
        const recorder = makeRecorder(contestant, repetition)
        await attempt(`${contestant.name}, repetition ${repetition}`, () =>
          contestant.round(cell, repetition, recorder),
        )
      }
  } finally {
    await Promise.all(
      started.map(async cell => {
        const { left } = await cell.end()
        if (left > 0) problems.push(`${cell.cell.strategy}: ${left} sandboxes were left after the end`)
      }),
    )
  }
  return { levels, moments: moments(), problems }
}

/** All of a level at once, cold, for the others to be compared with. */
export const coldContestant = (width: number): Contestant => ({
  name: 'cold',
  cell: { strategy: 'cold', work: 'infra', width },
  async round(cell, repetition, { level }) {
    const fill = await cell.prepare()
    await level(toLevelRow(await cell.measure(repetition, fill), { phase: 'cold' }))
  },
})

function toLine(name: string, { phase, rep, batch, ok = 0, failed = 0, ready_p50_s }: LevelRow): string {
  const what = phase === 'batch' ? `, batch ${batch}` : phase === 'drain' ? ', drain and refill' : ''
  const usable = ready_p50_s === undefined ? '' : `, usable in ${ready_p50_s.toFixed(2)} s (p50)`
  return `${name}, repetition ${rep}${what}: ${ok} ok, ${failed} failed${usable}`
}

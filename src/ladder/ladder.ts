import { toErrorData } from '../errors.ts'
import { makeOpenCell, type OpenCell } from './cell.ts'
import type { Level, Work } from './level.ts'
import type { LadderPorts } from './ports.ts'
import { makeTurn, type Turn } from './turn.ts'
import { untilAborted } from './until-aborted.ts'

/** What a ladder is to do. */
export interface LadderPlan {
  /** Narrow to wide, as they are climbed. */
  readonly widths: readonly number[]
  readonly repetitions: number
  readonly strategies: readonly string[]
  readonly work: Work
}

export interface LadderRun {
  readonly levels: readonly Level[]
  /** Why there are not as many as were asked for; empty when there are. */
  readonly problems: readonly string[]
}

/** Is told of each level as soon as it is done, so that it can be kept whatever comes. */
export type OnLevel = (level: Level, cell: OpenCell) => Promise<void> | void

/**
 * All levels. At each width every strategy has processes of its own (and, where the ladder starts them, emulators with the same seed), and the
 * strategies take turns, so that a busy moment of the machine falls on all alike and the provider's pools refill while others are measured.
 */
export async function runLadder(plan: LadderPlan, ports: LadderPorts, onLevel: OnLevel): Promise<LadderRun> {
  const { signal, say } = ports
  const levels: Level[] = []
  const problems: string[] = []
  const attempt = async (what: string, work: () => Promise<void>) => {
    if (signal.aborted) return
    try {
      await untilAborted(work(), signal)
    } catch (error) {
      if (!signal.aborted) problems.push(`${what}: ${toErrorData(error).message}`)
    }
  }
  for (const width of plan.widths) {
    if (signal.aborted) break
    const started: OpenCell[] = []
    const turns: Turn[] = []
    try {
      await Promise.all(
        toTurns(plan.strategies).map((strategy, place) =>
          attempt(`${strategy} at ${width}`, async () => {
            const cell = makeOpenCell({ strategy, work: plan.work, width }, ports)
            started.push(cell)
            await cell.open()
            turns[place] = makeTurn(cell)
          }),
        ),
      )
      for (let repetition = 1; repetition <= plan.repetitions; repetition += 1)
        for (const turn of Object.values(turns))
          await attempt(`${turn.cell.cell.strategy} at ${width}, repetition ${repetition}`, async () => {
            const level = await turn.take(repetition, repetition < plan.repetitions)
            levels.push(level)
            say(toLine(level))
            await onLevel(level, turn.cell)
          })
    } finally {
      await Promise.all(
        started.map(async cell => {
          const { left } = await cell.end()
          if (left > 0) problems.push(`${cell.cell.strategy} at ${width}: ${left} sandboxes were left after the end`)
        }),
      )
    }
  }
  return { levels, problems }
}

/** The provider's pool comes last in each round, as it has the longest to fill. */
const toTurns = (strategies: readonly string[]): readonly string[] => [
  ...strategies.filter(strategy => strategy !== 'provider-pool'),
  ...strategies.filter(strategy => strategy === 'provider-pool'),
]

function toLine({ cell, repetition, samples, failures, wallMs, fillMs }: Level): string {
  const fill = fillMs < 1 ? '' : `, made ready in ${(fillMs / 1_000).toFixed(1)} s`
  return `${cell.strategy} at ${cell.width}, repetition ${repetition}: ${samples.length} ok, ${failures.length} failed, ${(wallMs / 1_000).toFixed(1)} s${fill}`
}

import { join } from 'node:path'
import { possibleStrategies, preflightLadder } from '../ladder/check-strategies.ts'
import { runLadder } from '../ladder/ladder.ts'
import { toLadderReceipt } from '../ladder/ladder-receipt.ts'
import type { Level } from '../ladder/level.ts'
import { checkDescriptors } from '../ladder/limits.ts'
import { writeReceipt } from '../receipts/index.ts'
import type { LadderRow } from '../simulation/ladder-row.ts'
import { toLadder } from '../simulation/read-ladder.ts'
import { closing } from './closing.ts'
import type { TuneArguments } from './commands/tune.ts'
import { ladderNotDone } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { prepareMeasuring } from './ladder-ports.ts'
import { toLevelEvent } from './level-event.ts'
import { makeCounter } from './progress/counter.ts'
import { makeLevelTimes } from './progress/level-times.ts'
import type { Telling } from './telling.ts'

const REPETITIONS = 2
const NARROW = 8
const INFRA = { work: 'infra', group: 1, agentConfig: {} } as const

/**
 * A ladder of three widths up to the job's own, on the runtime that the options name: what `troupe tune --live` fits its model to. With `--out` its receipt is kept
 * there. Rejects with what is wrong with the input before a sandbox is made, with `interrupted` after Ctrl-C, and with `ladder-not-done`.
 */
export async function measureLive(options: TuneArguments, telling: Telling): Promise<readonly LadderRow[]> {
  const { console, clock } = telling.cli
  const widths = toLiveWidths(options.maxConcurrent ?? options.rollouts)
  const { speed: _, ...where } = options
  const measuring = await prepareMeasuring(undefined, where, INFRA, console)
  const strategies = possibleStrategies(measuring.runtime).filter(strategy => strategy !== 'prewarm')
  checkDescriptors(widths, measuring.runtimeName)
  if (measuring.runtime !== undefined) {
    await using runtime = closing(measuring.runtime)
    await preflightLadder(widths, strategies, runtime.value)
  }
  const interrupt = armInterrupt({
    onFirst: () => console.need('\nending the ladder in order; press Ctrl-C again to end at once'),
    onSecond: () => process.exit(EXIT.interrupted),
  })
  const levels: Level[] = []
  const total = widths.length * REPETITIONS * strategies.length
  const times = makeLevelTimes({ widths, repetitions: REPETITIONS, strategies }, clock)
  const counter = makeCounter({ unit: 'levels', total, clock, leftMs: times.leftMs })
  counter.begin('measuring')
  const shown = telling.show(counter.view)
  try {
    const { problems } = await runLadder(
      { widths, repetitions: REPETITIONS, strategies, work: 'infra' },
      { ...measuring.ports, signal: interrupt.signal, say: line => console.talk(line) },
      level => {
        levels.push(level)
        times.done(level.cell)
        counter.done()
        telling.tell(toLevelEvent(level))
      },
    )
    const stopped = interrupt.signal.aborted ? ['interrupted: only the levels that were done'] : problems
    const command = ['troupe ladder', `--levels ${widths} --repetitions ${REPETITIONS}`, ...measuring.words].join(' ')
    const receipt = toLadderReceipt(levels, { command, ...measuring.about }, stopped)
    if (options.out !== undefined) await writeReceipt(join(options.out, 'ladder.csv'), receipt)
    interrupt.signal.throwIfAborted()
    if (stopped.length > 0) throw ladderNotDone(stopped)
    return toLadder(receipt, 'the live ladder')
  } finally {
    shown.stop()
    interrupt.disarm()
  }
}

/** Narrow, a quarter, and all that the job has in flight. */
export function toLiveWidths(widest: number): readonly number[] {
  const widths = [Math.min(NARROW, widest), Math.ceil(widest / 4), widest]
  return [...new Set(widths)].sort((one, other) => one - other)
}

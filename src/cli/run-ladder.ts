import { join } from 'node:path'
import { checkStrategies, possibleStrategies, preflightLadder } from '../ladder/check-strategies.ts'
import { runLadder } from '../ladder/ladder.ts'
import { toLadderReceipt } from '../ladder/ladder-receipt.ts'
import type { Level, Strategy } from '../ladder/level.ts'
import { checkDescriptors } from '../ladder/limits.ts'
import { renderLadder } from '../ladder/render-ladder.ts'
import {
  PUBLISHED_LADDER_RECEIPT,
  type Receipt,
  readReceiptFile,
  toLadderRows,
  writeReceipt,
  writeWhole,
} from '../receipts/index.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import type { LadderArguments } from './commands/ladder.ts'
import { conflictingOptions, missingOption } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { type Measuring, prepareMeasuring } from './ladder-ports.ts'
import { toLevelEvent } from './level-event.ts'
import { makeCounter } from './progress/counter.ts'
import { makeLevelTimes } from './progress/level-times.ts'
import { openTelling, type Telling } from './telling.ts'

interface LadderInput {
  readonly tasks: string | undefined
  readonly agent: string | undefined
}

const PUBLISHED = 'published'

/** `troupe ladder`. Throws what is wrong with the input, before anything is made; the exit status tells how the ladder went. */
export async function runLadderCommand(input: LadderInput, options: LadderArguments, outer: Cli): Promise<void> {
  await using opened = closing(openTelling(options, outer))
  const telling = opened.value
  const { cli } = telling
  const compared = options.compare === undefined ? undefined : await readCompared(options.compare)
  if (options.receipt !== undefined) {
    await draw(await readReceiptFile(options.receipt), compared, options, telling)
    return
  }
  const measuring = await prepareMeasuring(input.tasks, options, toWork(input, options), cli.console)
  const strategies = chooseStrategies(options, measuring)
  checkDescriptors(options.levels, measuring.runtimeName)
  if (measuring.runtime !== undefined) {
    await using runtime = closing(measuring.runtime)
    await preflightLadder(options.levels, strategies, runtime.value)
  }
  await climb(strategies, compared, measuring, { input, options, telling })
}

interface Command {
  readonly input: LadderInput
  readonly options: LadderArguments
  readonly telling: Telling
}

async function climb(
  strategies: readonly Strategy[],
  compared: Receipt | undefined,
  measuring: Measuring,
  { input, options, telling }: Command,
): Promise<void> {
  const { cli } = telling
  const { console } = cli
  const { levels: widths, repetitions, mode: work } = options
  const path = join(options.out, 'ladder.csv')
  const about = { command: toCommand(strategies, measuring, input, options), ...measuring.about }
  const interrupt = armInterrupt({
    onFirst: () =>
      console.need('\nending in order, and keeping the levels that are done; press Ctrl-C again to end at once'),
    onSecond: () => process.exit(EXIT.interrupted),
  })
  const done: Level[] = []
  const keep = (problems: readonly string[]) => writeReceipt(path, toLadderReceipt(done, about, problems))
  const times = makeLevelTimes({ widths, repetitions, strategies }, cli.clock)
  const counter = makeCounter({
    unit: 'levels',
    total: widths.length * repetitions * strategies.length,
    clock: cli.clock,
    leftMs: times.leftMs,
  })
  const shown = telling.show(counter.view)
  try {
    await keep(['it was ended before its first level'])
    const run = await runLadder(
      { widths, repetitions, strategies, work },
      { ...measuring.ports, signal: interrupt.signal, say: line => console.talk(line) },
      async level => {
        done.push(level)
        times.done(level.cell)
        counter.done(describeLevels(done))
        telling.tell(toLevelEvent(level))
        await keep([`it was ended after ${level.cell.strategy} at ${level.cell.width}, repetition ${level.repetition}`])
      },
    )
    shown.stop()
    const problems = [
      ...(interrupt.signal.aborted ? ['interrupted: only the levels that were done'] : []),
      ...run.problems,
    ]
    const receipt = toLadderReceipt(done, about, problems)
    await writeReceipt(path, receipt)
    for (const problem of problems) console.need(problem)
    if (done.length > 0) await draw(receipt, compared, options, telling, problems)
    else await telling.finish({ problems, rows: [], compared: [] }, () => '')
    const isWhole = problems.length === 0 && done.every(({ failures, leaked }) => failures.length + leaked === 0)
    if (interrupt.signal.aborted) cli.exitWith(EXIT.interrupted)
    else if (!isWhole) cli.exitWith(EXIT.failed)
  } finally {
    shown.stop()
    interrupt.disarm()
  }
}

/** How the sandboxes fared. */
function describeLevels(done: readonly Level[]): readonly string[] {
  const failed = done.reduce((sum, { failures }) => sum + failures.length, 0)
  const leaked = done.reduce((sum, level) => sum + level.leaked, 0)
  const last = done.at(-1)
  return [
    `${failed} failed`,
    ...(leaked === 0 ? [] : [`${leaked} left behind`]),
    ...(last === undefined ? [] : [`last ${last.cell.strategy} at ${last.cell.width}`]),
    ...(last?.pool === undefined ? [] : [`its pool ${last.pool.created} made ${last.pool.owned} kept`]),
  ]
}

async function draw(
  receipt: Receipt,
  compared: Receipt | undefined,
  { out, ...options }: LadderArguments,
  telling: Telling,
  problems: readonly string[] = [],
): Promise<void> {
  const rows = toLadderRows(receipt, options.receipt ?? 'ladder.csv')
  const others = compared === undefined ? [] : toLadderRows(compared, options.compare ?? PUBLISHED)
  await telling.finish({ problems, rows, compared: others }, () => renderLadder(rows, others))
  // The chart library is large, and not needed before.
  const { toLadderPage, toLadderSvg } = await import('../ladder/page/index.ts')
  const receipts = compared === undefined ? [receipt] : [receipt, compared]
  const [svg, page] = [join(out, 'ladder.svg'), join(out, 'ladder.html')]
  await writeWhole(svg, toLadderSvg(receipts))
  await writeWhole(page, toLadderPage(receipts))
  const csv = options.receipt === undefined ? `${join(out, 'ladder.csv')}, ` : ''
  telling.cli.console.need(`written: ${csv}${svg}, ${page}`)
}

async function readCompared(path: string): Promise<Receipt> {
  const receipt = path === PUBLISHED ? PUBLISHED_LADDER_RECEIPT : await readReceiptFile(path)
  toLadderRows(receipt, path) // what is wrong with it is said before anything is measured
  return receipt
}

function toWork({ agent }: LadderInput, options: LadderArguments) {
  const { mode: work, group, agentConfig = {}, threads } = options
  if (work === 'rollout' && agent === undefined)
    throw missingOption('the agent', 'rollouts need one to work on the tasks: troupe ladder TASKS AGENT --mode rollout')
  if (work === 'infra' && agent !== undefined)
    throw conflictingOptions('an agent', '--mode infra', 'nobody works in its sandboxes; say --mode rollout')
  return {
    work,
    group,
    agentConfig,
    ...(agent === undefined ? {} : { agent }),
    ...(threads === undefined ? {} : { threads }),
  }
}

/** What was asked for, or all that is possible there. */
function chooseStrategies({ strategies }: LadderArguments, { runtime }: Measuring): readonly Strategy[] {
  if (strategies === undefined) return possibleStrategies(runtime)
  if (runtime !== undefined) checkStrategies(strategies, runtime)
  return strategies
}

/** Without what may be secret: the agent's config is left out. */
function toCommand(
  strategies: readonly Strategy[],
  { words }: Measuring,
  { tasks, agent }: LadderInput,
  { levels, repetitions, mode, group }: LadderArguments,
): string {
  return [
    'troupe ladder',
    ...[tasks, agent].filter(word => word !== undefined),
    `--levels ${levels.join(',')} --repetitions ${repetitions} --strategies ${strategies.join(',')}`,
    ...(mode === 'rollout' ? [`--mode rollout --group ${group}`] : []),
    ...words,
  ].join(' ')
}

import { type Command, Option } from 'commander'
import { STRATEGIES, type Strategy, WORKS, type Work } from '../../ladder/level.ts'
import { toJsonObject, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { toLadderStrategies, toLevels } from '../ladder-arguments.ts'
import { addMeasuringOptions, type MeasuringArguments } from '../ladder-ports.ts'
import { addTellOptions, type TellArguments } from '../telling.ts'

/** The options of `troupe ladder` as the action gets them. */
export interface LadderArguments extends MeasuringArguments, TellArguments {
  readonly levels: readonly number[]
  readonly repetitions: number
  readonly mode: Work
  /** Absent: all that the runtime can do. */
  readonly strategies?: readonly Strategy[]
  readonly group: number
  readonly agentConfig?: Readonly<Record<string, unknown>>
  readonly threads?: number
  readonly out: string
  readonly compare?: string
  readonly receipt?: string
}

export const DEFAULT_LEVELS = [1, 8, 32, 128, 256]

export function define(command: Command, cli: Cli): void {
  command
    .argument('[tasks]', 'tasks.ts, .jsonl, or a directory with one of them (default: the smallest that comes with it)')
    .argument('[agent]', 'for --mode rollout: a module, "scripted", or the slug of a model')
    .option('--levels <list>', 'sandboxes asked for at once, one level after the other', toLevels, DEFAULT_LEVELS)
    .option('--repetitions <n>', 'of each level, the strategies taking turns', wholeNumberFrom(1), 3)
    .addOption(
      new Option(
        '--mode <what>',
        'infra: acquired, connected to, one handshake, given back; rollout: whole rollouts, graded',
      )
        .choices(WORKS)
        .default('infra'),
    )
    .option(
      '--strategies <list>',
      `of ${STRATEGIES.join(', ')} (default: all that the runtime can do)`,
      toLadderStrategies,
    )
    .option('--group <n>', 'rollouts: attempts at each task', wholeNumberFrom(1), 8)
    .option('--agent-config <json>', "rollouts: the agent's config, a JSON object", toJsonObject)
    .option('--threads <n>', 'rollouts: worker threads; 0 runs all in the main thread', wholeNumberFrom(0))
  addTellOptions(addMeasuringOptions(command), 'the rows of the receipt')
    .option('--out <dir>', 'where ladder.csv, ladder.svg and ladder.html go', 'ladder')
    .option('--compare <file>', 'a receipt to lay beneath this one; published: the published ladder')
    .option('--receipt <file>', 'measure nothing: draw the page of this receipt again')
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string | undefined, agent: string | undefined, options: LadderArguments) => {
      const { runLadderCommand } = await import('../run-ladder.ts')
      await runLadderCommand({ tasks, agent }, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe ladder --emulator --compare published
  $ troupe ladder --levels 1,8,32 --repetitions 5
  $ troupe ladder environments/calc environments/calc/repairer.ts --mode rollout --levels 8,32,128
  $ troupe ladder environments/calc --runtime daytona --strategies cold,prewarm --levels 8,32 --out results
  $ troupe ladder --receipt ladder/ladder.csv --compare older.csv --out ladder

Prints a table to stdout and what goes on to stderr. The receipt is written anew after each level: what was done is kept whatever comes.
Exit status: 0 every sandbox became usable and none was left, 1 some did not, 2 bad input, 130 interrupted.`

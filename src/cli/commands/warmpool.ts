import { type Command, Option } from 'commander'
import { POOL_SOURCES, type PoolSource } from '../../warmpool/warmpool.ts'
import { wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addMeasuringOptions } from '../ladder-ports.ts'
import type { PoolBenchArguments } from '../measure-pool.ts'
import { addTellOptions } from '../telling.ts'

/** The options of `troupe warmpool` as the action gets them. */
export interface WarmpoolArguments extends PoolBenchArguments {
  /** Absent: the width. */
  readonly size?: number
  readonly source: PoolSource
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('[tasks]', 'tasks.ts, .jsonl, or a directory with one of them (default: the smallest that comes with it)')
    .option('--width <n>', 'sandboxes asked for at once', wholeNumberFrom(1), 128)
    .option('--size <n>', 'sandboxes held ready (default: the width)', wholeNumberFrom(1))
    .addOption(
      new Option('--source <name>', 'who holds them: the engine, or the provider')
        .choices(POOL_SOURCES)
        .default('prewarm'),
    )
    .option('--batches <n>', 'levels one right behind the other, without waiting for the pool', wholeNumberFrom(1), 3)
    .option('--repetitions <n>', 'of everything, cold and warm in turns', wholeNumberFrom(1), 3)
  addTellOptions(addMeasuringOptions(command), 'the levels')
    .option('--out <dir>', 'where warmpool.csv, warmpool.svg and warmpool.html go', 'warmpool')
    .option('--receipt <file>', 'measure nothing: print and draw this receipt again')
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string | undefined, options: WarmpoolArguments) => {
      const { runWarmpoolCommand } = await import('../run-warmpool.ts')
      await runWarmpoolCommand(tasks, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe warmpool --emulator
  $ troupe warmpool --emulator --source provider-pool --width 64 --size 96
  $ troupe warmpool environments/calc --width 8 --batches 5
  $ troupe warmpool environments/calc --runtime daytona --width 32 --out results
  $ troupe warmpool --receipt warmpool/warmpool.csv --out warmpool

It measures sandboxes made when they are asked for against a pool of them, how long the pool takes to fill and to be full again, and batches that do not wait for that.
Prints tables to stdout and what goes on to stderr. The receipt is written anew after each level: what was done is kept whatever comes.
Exit status: 0 every sandbox became usable and none was left, 1 some did not, 2 bad input, 130 interrupted.`

import { type Command, InvalidArgumentError } from 'commander'
import { wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addMeasuringOptions } from '../ladder-ports.ts'
import type { PoolBenchArguments } from '../measure-pool.ts'
import { addTellOptions } from '../telling.ts'

/** The options of `troupe fork-bench` as the action gets them. */
export interface ForkBenchArguments extends PoolBenchArguments {
  /** Absent: the usual ones that the width allows. */
  readonly parents?: readonly number[]
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('[tasks]', 'tasks.ts, .jsonl, or a directory with one of them (default: the smallest that comes with it)')
    .option('--width <n>', 'sandboxes asked for at once', wholeNumberFrom(1), 128)
    .option(
      '--parents <list>',
      'sandboxes kept to be forked, each number measured (default: 1,4,8, as far as the width goes)',
      toParents,
    )
    .option('--batches <n>', 'levels one right behind the other', wholeNumberFrom(1), 3)
    .option('--repetitions <n>', 'of everything, cold and forks in turns', wholeNumberFrom(1), 3)
  addTellOptions(addMeasuringOptions(command), 'the levels')
    .option('--out <dir>', 'where fork-bench.csv, fork-bench.svg and fork-bench.html go', 'fork-bench')
    .option('--receipt <file>', 'measure nothing: print and draw this receipt again')
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string | undefined, options: ForkBenchArguments) => {
      const { runForkBenchCommand } = await import('../run-fork-bench.ts')
      await runForkBenchCommand(tasks, options, cli)
    })
}

/** Numbers from 1, each once, in their order. */
function toParents(text: string): readonly number[] {
  const found = text.split(',').map(word => word.trim())
  if (found.some(word => !/^\d+$/.test(word) || Number(word) < 1 || !Number.isSafeInteger(Number(word))))
    throw new InvalidArgumentError('Write one or several whole numbers from 1 up, for instance 1,4,8.')
  return [...new Set(found.map(Number))]
}

const EXAMPLES = `
Examples:
  $ troupe fork-bench --emulator
  $ troupe fork-bench --emulator --width 256 --parents 1,2,4,8,16
  $ troupe fork-bench environments/calc --runtime daytona --width 32 --out results
  $ troupe fork-bench --receipt fork-bench/fork-bench.csv --out fork-bench

It measures sandboxes that are created against forks of so many kept parents, and says which number of parents did best.
Prints tables to stdout and what goes on to stderr. The receipt is written anew after each level: what was done is kept whatever comes.
Exit status: 0 every sandbox became usable and none was left, 1 some did not, 2 bad input, 130 interrupted.`

import { noForks, runForkBench, tooManyParents } from '../warmpool/index.ts'
import type { Cli } from './cli.ts'
import type { ForkBenchArguments } from './commands/fork-bench.ts'
import { drawPool, measurePool } from './measure-pool.ts'

/** As `--help` tells them. */
const USUAL_PARENTS: readonly number[] = [1, 4, 8]

/** `troupe fork-bench`. Throws what is wrong with the input, before anything is made. */
export async function runForkBenchCommand(
  tasks: string | undefined,
  options: ForkBenchArguments,
  cli: Cli,
): Promise<void> {
  if (options.receipt !== undefined) return drawPool('fork-bench', options.receipt, options, cli)
  const { width, batches, repetitions } = options
  const parents = options.parents ?? USUAL_PARENTS.filter(count => count <= width)
  const most = Math.max(...parents)
  if (most > width) throw tooManyParents(most, width)
  await measurePool(
    {
      kind: 'fork-bench',
      words: `--width ${width} --parents ${parents.join(',')} --batches ${batches} --repetitions ${repetitions}`,
      // One case at a time is measured, while the parents of all the others are kept.
      sandboxes: 2 * width + parents.reduce((sum, count) => sum + count, 0),
      providerPool: false,
      levels: 1 + parents.length * (1 + batches),
      check(runtime) {
        if (runtime.forks !== true) throw noForks(runtime.name)
      },
      run: (ports, onLevel) => runForkBench({ width, parents, batches, repetitions }, ports, onLevel),
    },
    tasks,
    options,
    cli,
  )
}

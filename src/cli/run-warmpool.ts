import { noProviderPool, runWarmpool } from '../warmpool/index.ts'
import type { Cli } from './cli.ts'
import type { WarmpoolArguments } from './commands/warmpool.ts'
import { drawPool, measurePool } from './measure-pool.ts'

/** `troupe warmpool`. Throws what is wrong with the input, before anything is made. */
export async function runWarmpoolCommand(
  tasks: string | undefined,
  options: WarmpoolArguments,
  cli: Cli,
): Promise<void> {
  if (options.receipt !== undefined) return drawPool('warmpool', options.receipt, options, cli)
  const { width, source, batches, repetitions, size = width } = options
  const providerPool = source === 'provider-pool'
  await measurePool(
    {
      kind: 'warmpool',
      words: `--width ${width} --size ${size} --source ${source} --batches ${batches} --repetitions ${repetitions}`,
      sandboxes: width + size,
      providerPool,
      // One cold, one of a full pool, one that drains it, and the batches.
      levels: 3 + batches,
      check(runtime) {
        if (providerPool && runtime.providerPool === undefined) throw noProviderPool(runtime.name)
      },
      run: (ports, onLevel) => runWarmpool({ width, size, source, batches, repetitions }, ports, onLevel),
    },
    tasks,
    options,
    cli,
  )
}

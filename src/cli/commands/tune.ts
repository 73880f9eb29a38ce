import type { Command } from 'commander'
import type { Arrivals, Durations } from '../../simulation/job.ts'
import { STRATEGIES, type Strategy } from '../../tune/request.ts'
import { numberFromZero, positiveNumber, toShare, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addRuntimeOptions, type RuntimeArguments } from '../runtime-options.ts'
import { addTellOptions, type TellArguments } from '../telling.ts'
import { toArrivals, toDurationMs, toDurations, toPaths, toStrategies } from '../tune-arguments.ts'

/** The options of `troupe tune` as the action gets them. Times in milliseconds. */
export interface TuneArguments extends RuntimeArguments, TellArguments {
  readonly rollouts: number
  readonly group: number
  readonly steps: number
  readonly duration: Durations
  /** Absent: the published one, unless arrivals are steady. */
  readonly gap?: number
  readonly maxConcurrent?: number
  readonly arrivals: Arrivals | { readonly type: 'staggered'; readonly overMs: undefined }
  readonly price?: number
  readonly priceCreate?: number
  readonly targetHitRate?: number
  readonly maxStep?: number
  readonly budget?: number
  readonly knee?: true
  readonly receipt: readonly string[]
  readonly live?: true
  readonly emulator?: true
  readonly strategies: readonly Strategy[]
  readonly repetitions: number
  readonly seed: number
  readonly out?: string
  readonly verify?: true
  readonly speed?: number
  readonly verifySteps?: number
}

const DURATION: Durations = { type: 'lognormal', p50Ms: 50_000, p95Ms: 90_000 }

export function define(command: Command, cli: Cli): void {
  addTellOptions(addRuntimeOptions(command), 'everything')
    .option('--rollouts <n>', 'rollouts in one step', wholeNumberFrom(1), 128)
    .option('--group <n>', 'attempts at each task: they ask for sandboxes together', wholeNumberFrom(1), 8)
    .option('--steps <n>', 'steps of the job', wholeNumberFrom(1), 10)
    .option(
      '--duration <what>',
      'how long a rollout works: p50=50s,p95=90s, or measured ones: 41s,52s,90s',
      toDurations,
      DURATION,
    )
    .option('--gap <time>', 'between the last rollout of a step and the next step (default: 94s)', toDurationMs)
    .option('--max-concurrent <n>', 'rollouts in flight at most (default: a whole step)', wholeNumberFrom(1))
    .option(
      '--arrivals <how>',
      'batch: a step all at once; staggered[:TIME]: its groups over that time; steady:RATE: rollouts a second, by chance',
      toArrivals,
      { type: 'batch' },
    )
    .option('--price <money>', 'of one sandbox for a second', positiveNumber)
    .option('--price-create <money>', 'of one create', numberFromZero)
    .option(
      '--target-hit-rate <share>',
      'the cheapest plan in which that share of leases finds a sandbox ready (default: 0.99)',
      toShare,
    )
    .option('--max-step <time>', 'instead: the cheapest plan whose steps take no longer', toDurationMs)
    .option('--budget <money>', 'instead: the quickest plan whose steps cost no more', positiveNumber)
    .option('--knee', 'instead: where more idle sandboxes stop buying much time')
    .option(
      '--receipt <file>',
      'a measured ladder to fit the model to; may be repeated (default: published figures)',
      toPaths,
      [],
    )
    .option('--live', 'measure first: a ladder of three widths on the runtime that the options name')
    .option('--emulator', 'of --live: on an emulated Daytona that it starts')
    .option('--strategies <list>', `of ${STRATEGIES.join(', ')} (default: all)`, toStrategies, STRATEGIES)
    .option('--repetitions <n>', 'simulations of each plan, with seeds of their own', wholeNumberFrom(1), 3)
    .option('--seed <n>', 'of the simulations', wholeNumberFrom(0), 1)
    .option('--out <dir>', 'where tune.json and curve.svg go (default: nowhere)')
    .option('--verify', 'run the choice and two neighbours against an emulator, and compare')
    .option('--speed <n>', 'of that emulator (default: 10)', positiveNumber)
    .option('--verify-steps <n>', 'steps to run there (default: 2)', wholeNumberFrom(1))
    .addHelpText('after', EXAMPLES)
    .action(async (options: TuneArguments) => {
      const { runTune } = await import('../run-tune.ts')
      await runTune(options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe tune
  $ troupe tune --rollouts 256 --duration p50=3m,p95=9m --gap 60s --price 0.00005 --budget 2.5
  $ troupe tune --arrivals steady:0.5 --duration p50=10m,p95=20m --max-concurrent 512
  $ troupe tune --receipt ladder.csv --knee --out results
  $ troupe tune --live --runtime daytona --env environments/calc/env.ts --rollouts 64
  $ troupe tune --rollouts 32 --duration p50=20s,p95=40s --gap 30s --verify

It simulates the engine's own pool and a provider as slow as was measured; without options, the published training. Prints to stdout what to do, what it costs and
why. Exit status: 0 a plan keeps to what was asked, 1 none does, or the comparison failed, 2 bad input.`

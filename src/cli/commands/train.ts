import { type Command, Option } from 'commander'
import { TRAINING_SHAPE } from '../../training/defaults.ts'
import type { LossName } from '../../training/trainer.ts'
import { positiveNumber, toAssignments, toBytes, toDeadlines, toList, toShare, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addClusterOptions, type ClusterArguments } from '../cluster-options.ts'
import { addPoolOptions, type RolloutArguments } from '../job-options.ts'
import { addModelOptions, type ModelArguments } from '../model-options.ts'
import { addObserveOptions, type ObserveArguments } from '../observe-options.ts'
import { NO_REPORT, NO_REPORT_HELP } from '../report-options.ts'
import { addRuntimeOptions, type RuntimeArguments } from '../runtime-options.ts'
import { addTellOptions, type TellArguments } from '../telling.ts'

/** The options of `troupe train` as the action gets them. What has no default here has one that depends on others. */
export interface TrainArguments
  extends ObserveArguments,
    RuntimeArguments,
    ModelArguments,
    RolloutArguments,
    ClusterArguments,
    TellArguments {
  readonly taskIds?: readonly string[]
  readonly heldOut?: readonly string[]
  readonly unseen?: readonly string[]
  readonly steps?: number
  readonly group?: number
  readonly chunk?: number
  readonly chunkBytes: number
  readonly learningRate?: number
  readonly loss?: LossName
  readonly lossConfig?: Readonly<Record<string, number>>
  readonly substeps?: number
  /** False after `--no-eval`. */
  readonly eval: boolean
  readonly evalEvery?: number
  readonly evalGroup?: number
  readonly maxPolicyLag: number
  readonly dynamicSampling: number
  readonly order: 'planned' | 'completion'
  readonly poolLead?: number
  readonly minGraded?: number
  readonly quick?: true
  readonly out: string
}

export const LOSSES = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'] as const
export const DEFAULT_TASKS = 'environments/calc/tasks.ts'
const SHAPE = TRAINING_SHAPE

export function define(command: Command, cli: Cli): void {
  command
    .argument('[tasks]', 'tasks.ts, .js, .json, .jsonl, or a directory with one of them', DEFAULT_TASKS)
    .option('--task-ids <list>', 'tasks to train on (default: those of the split "train", or all)', toList)
    .option('--held-out <list>', 'tasks measured before and after (default: those of the split "held-out")', toList)
    .option('--unseen <list>', 'the same as a series of its own (default: those of the split "unseen")', toList)
    .option('--steps <n>', `optimiser steps (default: ${SHAPE.steps})`, wholeNumberFrom(1))
    .option(
      '--group <n>',
      `attempts at each task, compared with each other (default: ${SHAPE.group})`,
      wholeNumberFrom(2),
    )
    .option('--chunk <runs>', `runs trained on in one call at most (default: ${SHAPE.chunk})`, wholeNumberFrom(1))
    .option('--chunk-bytes <size>', 'packed size of a chunk at most', toBytes, SHAPE.chunkBytes)
    .option('--max-concurrent <n>', 'rollouts in flight at most', wholeNumberFrom(1), 128)
  addModelOptions(command)
    .option('--learning-rate <rate>', 'of Adam (default: as the trainer has it)', positiveNumber)
    .addOption(new Option('--loss <name>', 'default: as the trainer has it').choices(LOSSES))
    .option('--loss-config <name=number>', 'passed on to the loss; may be repeated', toAssignments)
    .option('--substeps <n>', "of the service within one call's batch", wholeNumberFrom(1))
    .option('--eval-every <steps>', 'measure held-out tasks between, too', wholeNumberFrom(1))
    .option(
      '--eval-group <n>',
      `attempts at each held-out task (default: ${SHAPE.evaluationGroup})`,
      wholeNumberFrom(1),
    )
    .option('--no-eval', 'measure nothing but the training itself')
    .option('--max-policy-lag <n>', 'begin rollouts up to n versions ahead of the training', wholeNumberFrom(0), 0)
    .option('--dynamic-sampling <n>', 'roll out up to n more groups a step for those that agree', wholeNumberFrom(0), 0)
    .addOption(
      new Option('--order <order>', 'in which groups are trained on: planned gives the same chunks every time')
        .choices(['planned', 'completion'])
        .default('planned'),
    )
    .option('--min-graded <share>', "stop where fewer of a step's rollouts were graded (default: 0.5)", toShare)
    .option('--seed <n>', 'seeds order, agents and sampling (default: drawn)', wholeNumberFrom(0))
    .option('--quick', 'the same in about a minute: fewer steps, smaller groups, smaller evaluations')
    .option('--out <dir>', 'where train_run.json and train_curve.svg go', '.')
  addTellOptions(addObserveOptions(addClusterOptions(addPoolOptions(addRuntimeOptions(command)))), 'the receipt')
    .option('--pool-lead <seconds>', 'fill the pool so long before a step (default: while training)', positiveNumber)
    .option('--threads <n>', 'worker threads; 0 runs all in the main thread', wholeNumberFrom(0))
    .option('--retries <n>', 'fresh sandboxes tried after a passing infrastructure error', wholeNumberFrom(0), 2)
    .option('--deadline <seconds>', 'limit of a rollout, or PHASE=SECONDS; may be repeated', toDeadlines)
    .option('--journal <dir>', 'where finished runs are kept', '.troupe/journal')
    .option('--no-journal', 'keep finished runs only until the command ends; it cannot go on then')
    .option(NO_REPORT, NO_REPORT_HELP)
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string, options: TrainArguments) => {
      const { runTrain } = await import('../run-train.ts')
      await runTrain(tasks, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe train
  $ troupe train --quick --seed 1
  $ troupe train environments/arith --steps 6 --no-eval
  $ troupe train --trainer hud --model my-fork --max-tokens 2048
  $ troupe train --runtime daytona --pool 128 --pool-lead 7
  $ troupe train --dynamic-sampling 8 --max-policy-lag 1 --eval-every 2 --out results

Ctrl-C once ends in order and keeps what is finished; the same command goes on from there, and nothing is trained on twice.
Exit status: 0 every step was made, 1 something broke on the way, 2 bad input, 130 interrupted.`

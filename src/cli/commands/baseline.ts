import type { Command } from 'commander'
import { type DeadlineArgument, toDeadlines, toJsonObject, toList, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addPoolOptions, type PoolArguments } from '../job-options.ts'
import { addModelOptions, type ModelArguments } from '../model-options.ts'
import { addRuntimeOptions, type RuntimeArguments } from '../runtime-options.ts'
import { addTellOptions, type TellArguments } from '../telling.ts'

/** The options of `troupe baseline` as the action gets them. */
export interface BaselineArguments extends RuntimeArguments, ModelArguments, PoolArguments, TellArguments {
  readonly taskIds?: readonly string[]
  readonly group: number
  readonly maxConcurrent: number
  readonly threads?: number
  readonly retries: number
  readonly deadline?: DeadlineArgument
  readonly seed?: number
  readonly agentConfig?: Readonly<Record<string, unknown>>
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('<tasks>', 'tasks.ts, .js, .json, .jsonl, or a directory with one of them')
    .argument('[agent]', 'a module or "scripted" (default: the model, which is the embedded policy without --model)')
    .option('--task-ids <list>', 'tasks to try (default: those of the split "train", or all)', toList)
    .option('--group <n>', 'attempts at each task, compared with each other', wholeNumberFrom(2), 8)
    .option('--max-concurrent <n>', 'rollouts in flight at most', wholeNumberFrom(1), 128)
  addTellOptions(addPoolOptions(addRuntimeOptions(addModelOptions(command))), 'the figures')
    .option('--threads <n>', 'worker threads; 0 runs all in the main thread', wholeNumberFrom(0))
    .option('--retries <n>', 'fresh sandboxes tried after a passing infrastructure error', wholeNumberFrom(0), 2)
    .option('--deadline <seconds>', 'limit of a rollout, or PHASE=SECONDS; may be repeated', toDeadlines)
    .option('--seed <n>', 'seeds order, agents and sampling (default: drawn)', wholeNumberFrom(0))
    .option('--agent-config <json>', "the agent's config, a JSON object", toJsonObject)
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string, agent: string | undefined, options: BaselineArguments) => {
      const { runBaseline } = await import('../run-baseline.ts')
      await runBaseline({ tasks, agent }, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe baseline environments/calc
  $ troupe baseline environments/calc --trainer hud --model my-fork --group 16
  $ troupe baseline environments/calc environments/calc/repairer.ts --agent-config '{"skill": 0.7}' --json

Nothing is trained and nothing is kept.
Exit status: 0 the verdict stands, whatever it is; 1 nothing could be graded; 2 bad input; 130 interrupted.`

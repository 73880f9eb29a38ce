import type { Command } from 'commander'
import { toDeadlines, toJsonObject, toList, toShare, wholeNumberFrom } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { addClusterOptions, type ClusterArguments } from '../cluster-options.ts'
import { addPoolOptions, type RolloutArguments } from '../job-options.ts'
import { addObserveOptions, type ObserveArguments } from '../observe-options.ts'
import { NO_REPORT, NO_REPORT_HELP } from '../report-options.ts'
import { addRuntimeOptions, type RuntimeArguments } from '../runtime-options.ts'
import { addTellOptions, type TellArguments } from '../telling.ts'

/** The options of `troupe eval` as the action gets them. */
export interface EvalArguments
  extends ObserveArguments,
    RuntimeArguments,
    RolloutArguments,
    ClusterArguments,
    TellArguments {
  readonly all?: true
  readonly taskIds?: readonly string[]
  readonly ungradedOf?: string
  readonly group: number
  readonly chunk?: number
  readonly skill?: number
  readonly agentConfig?: Readonly<Record<string, unknown>>
}

export function define(command: Command, cli: Cli): void {
  command
    .argument('<tasks>', "tasks.ts, .js, .json, .jsonl, a directory with one of them, or hud:NAME of HUD's platform")
    .argument('<agent>', 'a module (agent.ts, agent.ts#export), "scripted", or the slug of a model')
    .option('--all', 'run every task; without this and --task-ids, only the first')
    .option('--task-ids <list>', 'slugs, template ids, indices or ranges (0-15), separated by commas', toList)
    .option('--ungraded-of <job>', 'only the tasks of which that job has a run without a grade')
    .option('--group <n>', 'attempts at each task, compared with each other', wholeNumberFrom(1), 1)
    .option('--max-concurrent <n>', 'rollouts in flight at most', wholeNumberFrom(1), 128)
  addTellOptions(addObserveOptions(addClusterOptions(addPoolOptions(addRuntimeOptions(command)))), 'the report')
    .option('--threads <n>', 'worker threads; 0 runs all in the main thread', wholeNumberFrom(0))
    .option('--chunk <runs>', 'deliver chunks of whole groups, at most this many runs each', wholeNumberFrom(1))
    .option('--seed <n>', 'seeds the order of the groups and every agent (default: drawn)', wholeNumberFrom(0))
    .option(
      '--retries <n>',
      'fresh sandboxes tried after a passing infrastructure error, each run',
      wholeNumberFrom(0),
      2,
    )
    .option('--deadline <seconds>', 'limit of a rollout, or PHASE=SECONDS; may be repeated', toDeadlines)
    .option('--skill <share>', 'shorthand for --agent-config \'{"skill": share}\'', toShare)
    .option('--agent-config <json>', "the agent's config, a JSON object", toJsonObject)
    .option('--journal <dir>', 'where finished runs are kept', '.troupe/journal')
    .option('--no-journal', 'keep finished runs only until the command ends')
    .option(NO_REPORT, NO_REPORT_HELP)
    .addHelpText('after', EXAMPLES)
    .action(async (tasks: string, agent: string, options: EvalArguments) => {
      const { runEval } = await import('../run-eval.ts')
      await runEval({ tasks, agent }, options, cli)
    })
}

const EXAMPLES = `
Examples:
  $ troupe eval environments/calc/tasks.ts environments/calc/repairer.ts --all --group 8
  $ troupe eval environments/calc environments/calc/repairer.ts --task-ids 0-15 --group 8 --skill 0.7 --seed 1
  $ troupe eval tasks.jsonl agent.ts --all --runtime url --url 127.0.0.1:8765 --json | tail -n 1 > report.json
  $ troupe eval environments/calc environments/calc/repairer.ts --all --runtime daytona --pool 64+fork:4
  $ troupe eval environments/calc environments/calc/repairer.ts --ungraded-of job-0123 --group 8
  $ troupe eval tasks.jsonl scripted --agent-config '{"commands": ["ls"], "answer": "42"}'

Ctrl-C once ends the run in order and keeps what is finished; the same command goes on from there. Twice ends it at once.
Exit status: 0 every planned run is graded, 1 some are not, 2 bad input, 130 interrupted.`

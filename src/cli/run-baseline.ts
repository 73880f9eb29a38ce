import type { AgentSpec } from '../agents/agent.ts'
import { createAgent } from '../agents/create-agent.ts'
import { Job } from '../job/job.ts'
import { planProvision, preflight } from '../job/preflight.ts'
import { countFailures } from '../report/failures.ts'
import type { Group } from '../rollout/group.ts'
import { Taskset } from '../taskset/taskset.ts'
import { type Baseline, measureBaseline, type TaskAttempts } from '../training/baseline/disagreement.ts'
import { renderBaseline } from '../training/baseline/render.ts'
import { checkOpenFiles } from './check-open-files.ts'
import { chooseTrainTasks } from './choose-splits.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import type { BaselineArguments } from './commands/baseline.ts'
import { endAtOnce } from './end-at-once.ts'
import { conflictingOptions, missingOption } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { toJobDefaults } from './job-options.ts'
import { type ModelPlan, planModel } from './open-model.ts'
import { watchJob } from './progress/job-view.ts'
import { allNameImages, makeRuntime } from './runtime-options.ts'
import { openTelling, type Telling } from './telling.ts'
import { showWarnings } from './warnings.ts'

interface AgentPlan extends Pick<ModelPlan, 'agent' | 'close'> {
  open(): Promise<{ readonly agent: AgentSpec; close(): Promise<void> }>
}

interface Input {
  readonly tasks: string
  /** Absent: the model that the options name. */
  readonly agent: string | undefined
}

/** `troupe baseline`. Throws what is wrong with the input; a verdict of any kind is a success. */
export async function runBaseline(input: Input, options: BaselineArguments, outer: Cli): Promise<void> {
  refuseConflicts(input, options)
  await using opened = closing(openTelling(options, outer))
  const telling = opened.value
  const { cli } = telling
  const loaded = await Taskset.load(input.tasks)
  const taskset = chooseTrainTasks(loaded, options.taskIds)
  await using runtime = closing(
    await makeRuntime(options, loaded.environment, cli.console, allNameImages(taskset.tasks)),
  )
  await using planned = closing(await planAgent(input, options))
  const plan = planned.value
  const jobOptions = { runtime: runtime.value, group: options.group, ...toJobDefaults({ ...options, journal: false }) }
  const provision = planProvision(jobOptions, taskset.tasks.length * options.group)
  checkOpenFiles(provision, runtime.value)
  await preflight(taskset, plan.agent, runtime.value, provision, jobOptions.deadlines)
  await using model = closing(await plan.open())
  await using job = closing(await Job.start(taskset.name, jobOptions))
  telling.attach(job.value)
  await measure(job.value, taskset, model.value.agent, telling)
}

async function measure(job: Job, taskset: Taskset, agent: AgentSpec, telling: Telling): Promise<void> {
  const { cli } = telling
  const { console, clock } = cli
  const hideWarnings = showWarnings(console)
  const interrupt = armInterrupt({
    onFirst: () => console.need('\nending in order; press Ctrl-C again to end at once'),
    onSecond: () => void endAtOnce(() => job.close(), cli),
  })
  const watch = watchJob(job, clock)
  const shown = telling.show(watch.view)
  let failure: unknown
  try {
    for await (const _ of job.stream(taskset, agent, { signal: interrupt.signal }));
  } catch (error) {
    failure = error
  } finally {
    shown.stop()
    watch.stop()
  }
  // What would not end is told when the job is closed.
  await job.stopEngines().catch(() => {})
  hideWarnings()
  interrupt.disarm()
  if (failure !== undefined && job.runs.length === 0 && !interrupt.signal.aborted) throw failure
  const baseline = measureBaseline(toAttempts(job.groups))
  await telling.finish(baseline, () => renderBaseline(baseline))
  conclude(baseline, job, failure, interrupt.signal, cli)
}

function conclude(baseline: Baseline, job: Job, failure: unknown, signal: AbortSignal, cli: Cli): void {
  for (const { count, example } of countFailures(job.runs).slice(0, 3))
    cli.console.need(`${count} failed, for instance ${example.slug}: ${example.message ?? 'without a word'}`)
  if (failure !== undefined) cli.tell(failure)
  if (signal.aborted) cli.exitWith(EXIT.interrupted)
  else if (failure !== undefined || baseline.verdict === 'nothing-graded') cli.exitWith(EXIT.failed)
}

function toAttempts(groups: readonly Group[]): TaskAttempts[] {
  return [...groups]
    .sort((one, other) => one.task.slug.localeCompare(other.task.slug, 'en', { numeric: true }))
    .map(({ task, runs }) => ({
      slug: task.slug,
      rewards: runs.flatMap(run => (run.reward === null ? [] : [run.reward])),
      failed: runs.filter(run => run.reward === null).length,
    }))
}

function refuseConflicts({ agent }: Input, { model, base, agentConfig }: BaselineArguments): void {
  if (agent === undefined) {
    if (agentConfig !== undefined) throw missingOption('<agent>', '--agent-config is the config of one')
    return
  }
  if (model !== undefined) throw conflictingOptions('<agent>', '--model', 'a model acts through its own agent')
  if (base !== undefined) throw conflictingOptions('<agent>', '--base', 'it is for the embedded policy')
}

/** A module stands for itself; nothing is opened for it. */
async function planAgent(input: Input, options: BaselineArguments): Promise<AgentPlan> {
  if (input.agent === undefined) return planModel(input.tasks, options)
  const agent = createAgent(input.agent, options.agentConfig)
  const close = async () => {}
  return { agent, open: async () => ({ agent, close }), close }
}

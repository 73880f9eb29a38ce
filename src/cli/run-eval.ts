import type { AgentSpec } from '../agents/agent.ts'
import { createAgent } from '../agents/create-agent.ts'
import { PLANNED_GROUPS } from '../job/find-unfinished.ts'
import { Job, type JobOptions } from '../job/job.ts'
import { planProvision, preflight } from '../job/preflight.ts'
import type { JobSnapshot } from '../job/snapshot.ts'
import { renderReport } from '../report/render.ts'
import { isWhole, makeReport, type Report, type ReportSource } from '../report/report.ts'
import { type Chunk, chunkGroups, type GroupStream } from '../stream/index.ts'
import { Taskset } from '../taskset/taskset.ts'
import { checkOpenFiles } from './check-open-files.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import { toClusterOptions } from './cluster-options.ts'
import type { EvalArguments } from './commands/eval.ts'
import { endAtOnce } from './end-at-once.ts'
import { chunkTooSmall, conflictingOptions } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt, type Interrupt } from './interrupt.ts'
import { toJobDefaults } from './job-options.ts'
import { openObservers } from './observers.ts'
import { watchJob } from './progress/job-view.ts'
import { tellReported } from './report-options.ts'
import { allNameImages, makeRuntime } from './runtime-options.ts'
import { openTelling, type Telling } from './telling.ts'
import { selectUngraded } from './ungraded-tasks.ts'
import { showWarnings } from './warnings.ts'

/** `troupe eval`. Throws what is wrong with the input; once something has run, the exit status tells how that went. */
export async function runEval(
  input: { readonly tasks: string; readonly agent: string },
  options: EvalArguments,
  outer: Cli,
): Promise<void> {
  await using opened = closing(openTelling(options, outer))
  const telling = opened.value
  const { cli } = telling
  const loaded = await Taskset.load(input.tasks)
  const taskset = await chooseTasks(loaded, options, cli)
  const agent = createAgent(input.agent, toAgentConfig(options))
  if ('why' in agent && agent.why !== undefined) cli.console.talk(`agent: ${agent.why}`)
  if (options.chunk !== undefined && options.chunk < options.group) throw chunkTooSmall(options.chunk, options.group)
  await using observers = closing(await openObservers(options, cli))
  await using runtime = closing(
    await makeRuntime(options, taskset.environment, cli.console, allNameImages(taskset.tasks)),
  )
  // Also checked when the run starts; here, so that a mistake leaves no job behind in the journal.
  const jobOptions = {
    ...toJobOptions(taskset, input, options),
    runtime: runtime.value,
    ...toClusterOptions(options, taskset.environment, taskset.tasks),
  }
  const plan = planProvision(jobOptions, taskset.tasks.length * options.group)
  if (options.cluster === undefined) checkOpenFiles(plan, runtime.value)
  await preflight(taskset, agent, runtime.value, plan, jobOptions.deadlines)
  const job = await Job.start(taskset.name, jobOptions)
  // Before anything of the job can be seen from outside, and so be left behind.
  const interrupt = armInterrupt({
    onFirst: () => cli.console.need('\nending in order; press Ctrl-C again to end at once'),
    onSecond: () => void endAtOnce(() => job.close(), cli),
  })
  let failure: unknown
  try {
    await observers.value.attach(job)
    telling.attach(job)
    await runJob({ job, taskset, agent, interrupt }, options, telling)
  } catch (error) {
    failure = error
    throw error
  } finally {
    interrupt.disarm()
    await observers.value.over()
    await job.close().catch(error => {
      // The run's own error says more; what is left behind is told beside it.
      if (failure === undefined) throw error
      cli.tell(error)
    })
  }
}

interface Parts {
  readonly job: Job
  readonly taskset: Taskset
  readonly agent: AgentSpec
  readonly interrupt: Interrupt
}

async function runJob(
  { job, taskset, agent, interrupt }: Parts,
  options: EvalArguments,
  telling: Telling,
): Promise<void> {
  const { cli } = telling
  const { console, clock } = cli
  if (job.resumed) console.talk(`going on with ${job.jobId}, which was interrupted`)
  const hideWarnings = showWarnings(console)
  const startedAt = clock.now()
  const watch = watchJob(job, clock)
  const shown = telling.show(watch.view)
  const consumed: Consumed = { chunks: undefined, error: undefined }
  try {
    consumed.chunks = await consume(
      job.stream(taskset, agent, { group: options.group, signal: interrupt.signal }),
      options,
    )
  } catch (error) {
    consumed.error = error
  } finally {
    shown.stop()
    watch.stop()
  }
  const wallMs = clock.now() - startedAt
  const snapshot = job.snapshot()
  if (consumed.error !== undefined && !hasStarted(snapshot, interrupt.signal)) {
    hideWarnings()
    interrupt.disarm()
    throw consumed.error
  }
  await job.stopEngines()
  hideWarnings()
  interrupt.disarm()
  tellReported(job, console)
  const { chunks, error } = consumed
  const report = makeReport({
    jobId: job.jobId,
    name: job.name,
    seed: job.seed,
    runs: job.runs,
    groups: job.groups,
    snapshot,
    wallMs,
    ...(chunks === undefined ? {} : { chunks }),
  })
  await telling.finish(report, colours => renderReport(report, colours))
  conclude(report, error, interrupt.signal, options, cli)
}

interface Consumed {
  chunks: ReportSource['chunks']
  error: unknown
}

/** Groups stay in the job; here they are taken, and packed into chunks where that was asked for. */
async function consume(stream: GroupStream, { chunk }: EvalArguments): Promise<ReportSource['chunks']> {
  if (chunk === undefined) {
    for await (const _ of stream);
    return undefined
  }
  const made = { count: 0, runs: 0, bytes: 0 }
  const count = ({ runs, bytes }: Chunk) => {
    made.count += 1
    made.runs += runs.length
    made.bytes += bytes
  }
  await new Promise<void>((resolve, reject) => {
    stream.pipe(chunkGroups({ maxTrajectories: chunk })).subscribe({ next: count, error: reject, complete: resolve })
  })
  return made
}

/** An error before any rollout was under way is one of the input, and is told as such. */
function hasStarted(snapshot: JobSnapshot, signal: AbortSignal): boolean {
  return snapshot.finishedRuns > 0 || snapshot.peakInFlight > 0 || signal.aborted
}

function conclude(report: Report, error: unknown, signal: AbortSignal, { journal }: EvalArguments, cli: Cli): void {
  if (error !== undefined) cli.tell(error)
  if (signal.aborted) {
    cli.exitWith(EXIT.interrupted)
    return
  }
  if (error === undefined && isWhole(report)) return
  const missing = report.runs.planned - report.runs.graded
  const again = journal === false ? '' : `; --ungraded-of ${report.jobId} runs their tasks again`
  if (missing > 0)
    cli.console.need(
      `${missing} of ${report.runs.planned} runs have no grade; \`troupe show\` a failed one for more${again}`,
    )
  cli.exitWith(EXIT.failed)
}

async function chooseTasks(taskset: Taskset, options: EvalArguments, { console, clock }: Cli): Promise<Taskset> {
  const { all, taskIds, ungradedOf: job, journal } = options
  if (all === true && taskIds !== undefined)
    throw conflictingOptions('--all', '--task-ids', 'the first means every task, the second only some')
  if (job !== undefined) {
    if (all === true || taskIds !== undefined)
      throw conflictingOptions('--ungraded-of', '--all or --task-ids', 'each says which tasks to run')
    if (journal === false) throw conflictingOptions('--ungraded-of', '--no-journal', 'the journal is where that job is')
    return selectUngraded(taskset, { job, journal }, { clock })
  }
  if (taskIds !== undefined) return taskset.select(taskIds)
  if (all === true || taskset.tasks.length === 1) return taskset
  console.talk(`running the first of ${taskset.tasks.length} tasks; --all runs every one, --task-ids those you name`)
  return taskset.select(['0'])
}

function toAgentConfig({ agentConfig, skill }: EvalArguments): Readonly<Record<string, unknown>> {
  if (skill === undefined) return agentConfig ?? {}
  if (agentConfig !== undefined && 'skill' in agentConfig)
    throw conflictingOptions('--skill', '--agent-config with a skill', 'say it once')
  return { ...agentConfig, skill }
}

/** The settings are what makes two commands the same, so that the second goes on where the first was stopped. */
function toJobOptions(
  taskset: Taskset,
  input: { readonly tasks: string; readonly agent: string },
  options: EvalArguments,
): JobOptions {
  const { seed, group } = options
  const settings = {
    tasks: taskset.tasks.map(task => task.slug),
    agent: input.agent,
    agentConfig: toAgentConfig(options),
    group,
    seed: seed ?? null,
    [PLANNED_GROUPS]: taskset.tasks.length,
  }
  return {
    settings,
    resume: true,
    group,
    ...toJobDefaults(options),
  }
}

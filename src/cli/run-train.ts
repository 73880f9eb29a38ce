import { availableParallelism } from 'node:os'
import { Job, type JobOptions } from '../job/job.ts'
import { planProvision, preflight } from '../job/preflight.ts'
import { renderPool } from '../report/pool.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { Taskset } from '../taskset/taskset.ts'
import type { TrainShape } from '../training/loop/options.ts'
import { toJobSettings } from '../training/loop/settings.ts'
import { train } from '../training/loop/train.ts'
import type { ReceiptHead } from '../training/receipt/receipt.ts'
import type { Trainer } from '../training/trainer.ts'
import { readVersion } from '../version.ts'
import { checkOpenFiles } from './check-open-files.ts'
import { chooseSplits, type Splits } from './choose-splits.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import { toClusterOptions } from './cluster-options.ts'
import type { TrainArguments } from './commands/train.ts'
import { endAtOnce } from './end-at-once.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt, type Interrupt } from './interrupt.ts'
import { toJobDefaults } from './job-options.ts'
import { openObservers } from './observers.ts'
import { type ModelPlan, type OpenModel, planModel } from './open-model.ts'
import { watchTraining } from './progress/train-view.ts'
import { readBaseTokenizer } from './read-tokenizer.ts'
import { tellReported } from './report-options.ts'
import { makeRuntime } from './runtime-options.ts'
import { openTelling, type Telling } from './telling.ts'
import { makeTrainingLog, type TrainingLog } from './training-log.ts'
import { type TrainingSettings, toTrainingSettings } from './training-settings.ts'
import { showWarnings } from './warnings.ts'

/** `troupe train`. Throws what is wrong with the input; once something has run, the exit status tells how that went. */
export async function runTrain(tasks: string, options: TrainArguments, outer: Cli): Promise<void> {
  await using opened = closing(openTelling(options, outer))
  const telling = opened.value
  const { cli } = telling
  const settings = toTrainingSettings(options)
  const taskset = await Taskset.load(tasks)
  const splits = chooseSplits(taskset, options)
  await using observers = closing(await openObservers(options, cli, () => readBaseTokenizer(tasks, options)))
  await using planned = closing(await planModel(tasks, options))
  const plan = planned.value
  await using runtime = closing(await makeRuntime(options, taskset.environment, cli.console))
  // Also checked when the first rollouts start; here, so that a mistake leaves no job behind in the journal.
  const shape = toShape(settings, splits)
  const jobOptions = {
    ...toJobOptions(shape, splits, plan, options, runtime.value),
    runtime: runtime.value,
    ...toClusterOptions(options, taskset.environment, taskset.tasks),
  }
  const provision = planProvision(jobOptions)
  if (options.cluster === undefined) checkOpenFiles(provision, runtime.value)
  await preflight(splits.train, plan.agent, runtime.value, provision, jobOptions.deadlines)
  await using job = closing(await Job.start(taskset.name, jobOptions))
  // Before anything of the job can be seen from outside, and so be left behind.
  const interrupt = armInterrupt({
    onFirst: () => cli.console.need('\nending in order; press Ctrl-C again to end at once'),
    onSecond: () => void endAtOnce(() => job.value.close(), cli),
  })
  await using _armed = closing({ close: async () => interrupt.disarm() })
  await observers.value.attach(job.value)
  await using _over = closing({ close: () => observers.value.over() })
  telling.attach(job.value)
  await using model = closing(await plan.open(job.value.jobId))
  const trainer = model.value.openTrainer()
  await using _trainer = closing({ close: async () => trainer.close?.() })
  const head = toHead(job.value, model.value, options, settings, splits)
  const log = makeTrainingLog({ head, steps: settings.steps, directory: options.out, json: options.json === true }, cli)
  await runSteps({ job: job.value, model: model.value, trainer, shape, splits, log, telling, interrupt }, options)
}

interface Parts {
  readonly job: Job
  readonly model: OpenModel
  readonly trainer: Trainer
  readonly shape: TrainShape
  readonly splits: Splits
  readonly log: TrainingLog
  readonly telling: Telling
  readonly interrupt: Interrupt
}

async function runSteps(parts: Parts, options: TrainArguments) {
  const { job, model, trainer, shape, splits, log, telling, interrupt } = parts
  const { cli } = telling
  const { console, clock } = cli
  if (job.resumed) console.talk(`going on with ${job.jobId}, which was interrupted`)
  const hideWarnings = showWarnings(console)
  const lost = new AbortController()
  void model.lost?.then(error => lost.abort(error))
  const signal = AbortSignal.any([interrupt.signal, lost.signal])
  const { steps, evaluation } = shape
  const watch = watchTraining(
    job,
    { steps, splits: Object.keys(evaluation?.splits ?? {}), every: evaluation?.every ?? 0 },
    clock,
  )
  const shown = telling.show(watch.view, { passing: true })
  let failure: unknown
  try {
    for await (const event of train({
      ...shape,
      job,
      taskset: splits.train,
      agent: model.agent,
      trainer,
      signal,
      clock,
      ...(options.poolLead === undefined ? {} : { poolLeadMs: options.poolLead * 1_000 }),
      ...(options.minGraded === undefined ? {} : { minGradedShare: options.minGraded }),
    }))
      await log.receive(event)
  } catch (error) {
    failure = error
  } finally {
    shown.stop()
    watch.stop()
  }
  const { peakInFlight, finishedRuns, pool } = job.snapshot()
  const hasStarted = peakInFlight > 0 || finishedRuns > 0
  await job.stopEngines()
  hideWarnings()
  interrupt.disarm()
  tellReported(job, console)
  failure ??= lost.signal.reason
  if (failure !== undefined && !hasStarted && !interrupt.signal.aborted) throw failure
  await telling.finish(log.receipt, () => log.words)
  await log.tellPaths()
  if (pool !== undefined) console.talk(renderPool(pool))
  if (failure !== undefined) cli.tell(failure)
  if (options.journal !== false && (failure !== undefined || interrupt.signal.aborted))
    console.need(`what is finished is kept; the same command goes on with ${job.jobId}`)
  if (interrupt.signal.aborted) cli.exitWith(EXIT.interrupted)
  else if (failure !== undefined || log.hasFailed) cli.exitWith(EXIT.failed)
}

function toShape(settings: TrainingSettings, { heldOut, unseen }: Splits): TrainShape {
  const { evaluation } = settings
  return {
    steps: settings.steps,
    group: settings.group,
    learningRate: settings.learningRate,
    loss: { name: settings.loss, config: settings.lossConfig },
    substeps: settings.substeps,
    adam: settings.adam,
    chunk: { trajectories: settings.chunk, bytes: settings.chunkBytes },
    order: settings.order,
    maxPolicyLag: settings.maxPolicyLag,
    ...(settings.dynamicSampling === 0 ? {} : { dynamicSampling: { maxExtraGroups: settings.dynamicSampling } }),
    ...(evaluation === undefined
      ? {}
      : {
          evaluation: {
            splits: {
              ...(heldOut === undefined ? {} : { 'held-out': heldOut }),
              ...(unseen === undefined ? {} : { unseen }),
            },
            group: evaluation.group,
            ...(evaluation.every === null ? {} : { every: evaluation.every }),
          },
        }),
  }
}

/** The settings are what makes two commands the same, so that the second goes on where the first was stopped. */
function toJobOptions(
  shape: TrainShape,
  splits: Splits,
  plan: ModelPlan,
  options: TrainArguments,
  runtime: Runtime,
): JobOptions {
  const { seed } = options
  const training = {
    ...shape,
    model: options.model ?? 'embedded',
    taskset: splits.train,
    agent: { kind: 'chat' as const, config: plan.identity },
  }
  return {
    settings: { ...toJobSettings(training), seed: seed ?? null },
    resume: true,
    // A training is told by its records: the runs of all its steps would only lie in memory.
    keepGroups: false,
    runtime,
    ...toJobDefaults(options),
  }
}

function toHead(
  job: Job,
  model: OpenModel,
  options: TrainArguments,
  settings: TrainingSettings,
  splits: Splits,
): ReceiptHead {
  const count = (taskset: Taskset | undefined) => taskset?.tasks.length ?? 0
  return {
    name: job.name,
    model: model.model,
    trainer: options.trainer,
    seed: job.seed,
    settings: {
      job: job.jobId,
      tasks: { train: count(splits.train), held_out: count(splits.heldOut), unseen: count(splits.unseen) },
      ...settings,
      maxConcurrent: options.maxConcurrent,
      maxSteps: options.maxSteps ?? null,
      temperature: options.temperature ?? null,
      maxTokens: options.maxTokens ?? null,
    },
    made: {
      version: readVersion(),
      node: process.version,
      cores: availableParallelism(),
      platform: `${process.platform} ${process.arch}`,
    },
  }
}

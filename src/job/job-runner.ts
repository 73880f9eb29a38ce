import type { AgentSpec } from '../agents/agent.ts'
import { checkAgent } from '../agents/create-agent.ts'
import { type EngineSettings, toEngineSettings, toProvisionPlan } from '../assembly/settings.ts'
import type { Clock } from '../clock.ts'
import { type ErrorData, fromErrorData } from '../errors.ts'
import type { GroupId, JobId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { Group } from '../rollout/group.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { makeWaitingBytes } from '../stream/credits.ts'
import { type GroupStream, type GroupStreamSource, makeGroupStream } from '../stream/group-stream.ts'
import type { GroupPlan } from '../taskset/plan.ts'
import { planGroups } from '../taskset/plan-groups.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { makeEngines } from './engines.ts'
import { jobClosed, noRuntime, runCancelled } from './errors.ts'
import type { RunOptions } from './options.ts'
import { watchPool } from './pool-watch.ts'
import { preflight } from './preflight.ts'
import type { Progress } from './progress.ts'
import { makeRecall } from './recall.ts'
import { type JobRecords, makeJobRecords } from './records.ts'
import type { JobSnapshot } from './snapshot.ts'

export interface JobRunnerPorts {
  readonly jobId: JobId
  readonly name: string
  readonly seed: number
  /** An earlier process's job goes on. */
  readonly resumed: boolean
  readonly journal: Journal | undefined
  readonly defaults: RunOptions
  /** Whether `groups` has those that ended. */
  readonly keepsGroups: boolean
  readonly clock: Clock
  readonly progress: Progress
}

/** One `stream` call while it lasts: which groups it still expects, and where they go. */
interface ActiveRun {
  readonly source: GroupStreamSource
  readonly expected: Set<GroupId>
  readonly stopListening: () => void
}

export interface JobRunner {
  readonly runtime: Runtime | undefined
  readonly records: JobRecords
  readonly groups: readonly Group[]
  stream(taskset: Taskset, agent: AgentSpec, options: RunOptions): GroupStream
  expect(rollouts: number): void
  snapshot(): JobSnapshot
  stopEngines(): Promise<void>
  close(): Promise<void>
}

const DEFAULT_WAITING_BYTES = 256 * 1024 * 1024

/** What a job does: plans, starts engines, and leads each group to the stream that waits for it. */
export function makeJobRunner(ports: JobRunnerPorts): JobRunner {
  const { jobId, journal, progress, clock } = ports
  const waiting = makeWaitingBytes(ports.defaults.maxWaitingBytes ?? DEFAULT_WAITING_BYTES)
  const recall = makeRecall(journal, ports.resumed)
  const groups: Group[] = []
  const active = new Set<ActiveRun>()
  /** Runs whose cancel is under way: what they were about to hand in would be run for nobody. */
  const cancelled = new WeakSet<ActiveRun>()
  const engines = makeEngines({
    jobId,
    journal,
    waiting,
    durableRuns: recall.durableRuns,
    onRun(header) {
      recall.remember(header)
      progress.runOver(header)
    },
    onGroup(group) {
      if (ports.keepsGroups) groups.push(recall.keep(group))
      progress.groupOver()
      deliver(group)
    },
    onFailed: error => failAll(error),
  })
  const stopWatching = watchPool(clock, () => engines.running[0], progress.poolSeen)
  waiting.onRoom(() => {
    for (const engine of engines.running) engine.room()
  })
  let steps = 0
  /** How many places each step has given to groups. */
  const places = new Map<number, number>()
  let stopping: Promise<void> | undefined
  /** What was announced before there was an engine. */
  let expected = 0

  function stream(taskset: Taskset, agent: AgentSpec, options: RunOptions): GroupStream {
    if (stopping !== undefined) throw jobClosed(ports.name)
    const merged = { ...ports.defaults, ...options }
    const { runtime, signal } = merged
    if (runtime === undefined) throw noRuntime(taskset.name)
    const settings = toEngineSettings({ ...merged, runtime })
    checkAgent(agent, settings.threads)
    const seed = options.seed ?? ports.seed
    const step = options.step ?? steps++
    const plans = plan(taskset, merged.group ?? 1, seed, step, options.round ?? 0)

    const cancel = () => void cancelRun(run)
    const source = makeGroupStream({ waiting, onCancel: cancel })
    const stopListening = () => signal?.removeEventListener('abort', cancel)
    const run: ActiveRun = { source, expected: new Set(plans.map(plan => plan.groupId)), stopListening }
    active.add(run)
    signal?.addEventListener('abort', cancel, { once: true })
    begin(run, taskset, plans, agent, settings).catch(error => finish(run, error))
    if (signal?.aborted) cancel()
    return source.stream
  }

  function plan(taskset: Taskset, group: number, seed: number, step: number, round: number): readonly GroupPlan[] {
    // Groups of a later round stand behind those that the step has already.
    const firstIndex = round === 0 ? 0 : (places.get(step) ?? 0)
    const plans = planGroups({ jobId, tasks: taskset.tasks, group, seed, step, round, firstIndex })
    places.set(step, firstIndex + plans.length)
    return plans
  }

  async function begin(
    run: ActiveRun,
    taskset: Taskset,
    plans: readonly GroupPlan[],
    agent: AgentSpec,
    settings: EngineSettings,
  ): Promise<void> {
    const runs = plans.reduce((sum, plan) => sum + plan.members.length, 0)
    engines.use(settings.runtime)
    await preflight(taskset, agent, settings.runtime, toProvisionPlan(settings, runs))
    if (!active.has(run)) return
    progress.planned(plans.length, runs)
    const { ended, open } = await recall.sortPlans(plans)
    for (const group of ended) {
      for (const run of group.runs) progress.runOver(run)
      progress.groupOver()
      if (ports.keepsGroups) groups.push(group)
      deliver(group)
    }
    if (open.length === 0 || !active.has(run)) return
    const engine = await engines.get(settings)
    if (!active.has(run) || cancelled.has(run)) return
    if (expected > 0) engine.expect(expected)
    expected = 0
    engine.run(open, agent)
  }

  function deliver(group: Group): void {
    for (const run of active) {
      if (!run.expected.delete(group.groupId)) continue
      run.source.push(group)
      if (run.expected.size === 0) finish(run)
      return
    }
  }

  function finish(run: ActiveRun, error?: unknown): void {
    if (!active.delete(run)) return
    run.stopListening()
    if (error === undefined) run.source.complete()
    else run.source.error(error)
  }

  function failAll(error: ErrorData): void {
    for (const run of [...active]) finish(run, fromErrorData(error))
  }

  /** Ends in order what is in flight. A job's runs share its engines, so its other runs end too. */
  async function cancelRun(run: ActiveRun): Promise<void> {
    if (!active.has(run)) return
    for (const each of active) cancelled.add(each)
    let failure: unknown
    try {
      await Promise.all(engines.running.map(engine => engine.cancel()))
    } catch (error) {
      failure = error
    }
    const { finishedRuns, plannedRuns } = progress.snapshot(0)
    const kept = { durable: finishedRuns, pending: plannedRuns - finishedRuns, journal: journal?.location }
    for (const each of [...active]) finish(each, failure ?? runCancelled(kept))
  }

  async function endEngines(): Promise<void> {
    const [first] = active
    if (first !== undefined) await cancelRun(first)
    stopWatching()
    progress.close()
    await engines.close()
  }

  function stopEngines(): Promise<void> {
    stopping ??= endEngines()
    return stopping
  }

  return {
    runtime: ports.defaults.runtime,
    records: makeJobRecords(jobId, journal),
    groups,
    stream,
    expect(rollouts) {
      // The pool of the engine that runs the job; others have been started for single runs.
      const [engine] = engines.running
      if (engine === undefined) expected = rollouts
      else engine.expect(rollouts)
    },
    snapshot: () => progress.snapshot(waiting.bytes),
    stopEngines,
    async close() {
      try {
        await stopEngines()
      } finally {
        await journal?.close()
      }
    },
  }
}

import type { AgentSpec } from '../agents/agent.ts'
import { checkAgent } from '../agents/create-agent.ts'
import { type EngineSettings, toEngineSettings, toProvisionPlan } from '../assembly/settings.ts'
import type { Clock } from '../clock.ts'
import { type ErrorData, fromErrorData } from '../errors.ts'
import type { GroupId, JobId, RunId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { Group, GroupRecord } from '../rollout/group.ts'
import { type LiveList, mergeLive } from '../rollout/live.ts'
import { toRun } from '../rollout/pack.ts'
import type { Run } from '../rollout/run.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { makeWaitingBytes } from '../stream/credits.ts'
import { type GroupStream, type GroupStreamSource, makeGroupStream } from '../stream/group-stream.ts'
import type { GroupPlan } from '../taskset/plan.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { makeEngines } from './engines.ts'
import { jobClosed, noRuntime, runCancelled, stepRunning } from './errors.ts'
import type { RunOptions } from './options.ts'
import { makePlanner, type Planned } from './planner.ts'
import { watchPool } from './pool-watch.ts'
import { preflight } from './preflight.ts'
import type { Progress } from './progress.ts'
import { makeRecall } from './recall.ts'
import type { JobRecords } from './records.ts'
import type { JobReport, ReportCounts } from './reporter.ts'
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
  readonly records: JobRecords
  /** Told of everything that happens; closed when the engines are. */
  readonly report: JobReport | undefined
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
  readonly reported: (ReportCounts & { readonly url: string }) | undefined
  /** Aborted, with the error as its reason, when another process has the job: nothing of it may go on here. */
  readonly lost: AbortSignal
  stream(taskset: Taskset, agent: AgentSpec, options: RunOptions): GroupStream
  expect(rollouts: number): void
  snapshot(): JobSnapshot
  live(most: number): Promise<LiveList>
  findRun(runId: RunId): Promise<Run | undefined>
  earlierGroups(): AsyncIterable<GroupRecord>
  stopEngines(): Promise<void>
  close(): Promise<void>
}

const DEFAULT_WAITING_BYTES = 256 * 1024 * 1024

/** What a job does: plans, starts engines, and leads each group to the stream that waits for it. */
export function makeJobRunner(ports: JobRunnerPorts): JobRunner {
  const { jobId, journal, progress, clock, report } = ports
  const waiting = makeWaitingBytes(ports.defaults.maxWaitingBytes ?? DEFAULT_WAITING_BYTES)
  const recall = makeRecall(journal, ports.resumed)
  const plan = makePlanner(jobId)
  const groups: Group[] = []
  /** Groups that count as planned and are not over: those of a run that was cancelled too. */
  const open = new Set<GroupId>()
  const active = new Set<ActiveRun>()
  /** Runs whose cancel is under way: what they were about to hand in would be run for nobody. */
  const cancelled = new WeakSet<ActiveRun>()
  const lost = new AbortController()
  const engines = makeEngines({
    jobId,
    journal,
    waiting,
    durableRuns: recall.durableRuns,
    onStarted: (group, agent) => report?.groupStarted(group, agent),
    onRun(header, trajectory) {
      report?.runEnded(header, trajectory)
      recall.remember(header)
      progress.runOver(header)
    },
    onGroup(group) {
      open.delete(group.groupId)
      report?.groupEnded(group)
      recall.forget(group)
      if (ports.keepsGroups) groups.push(recall.keep(group))
      progress.groupOver()
      deliver(group)
    },
    onFailed: error => failAll(error),
    onLost(error) {
      lost.abort(fromErrorData(error))
      failAll(error)
    },
  })
  const stopWatching = watchPool(clock, () => engines.running[0], progress.poolSeen)
  waiting.onRoom(() => {
    for (const engine of engines.running) engine.room()
  })
  let stopping: Promise<void> | undefined
  /** What was announced before there was an engine. */
  let expected = 0

  function stream(taskset: Taskset, agent: AgentSpec, options: RunOptions): GroupStream {
    if (stopping !== undefined) throw jobClosed(ports.name)
    lost.signal.throwIfAborted()
    const merged = { ...ports.defaults, ...options }
    const { runtime, signal } = merged
    if (runtime === undefined) throw noRuntime(taskset.name)
    const settings = toEngineSettings({ ...merged, runtime })
    checkAgent(agent, settings.threads)
    const { step, round, seed = ports.seed } = options
    const planned = plan({ tasks: taskset.tasks, group: merged.group ?? 1, seed, step, round })
    refuseRunning(planned)

    const cancel = () => void cancelRun(run)
    const source = makeGroupStream({ waiting, onCancel: cancel })
    const stopListening = () => signal?.removeEventListener('abort', cancel)
    const run: ActiveRun = { source, expected: new Set(planned.plans.map(plan => plan.groupId)), stopListening }
    active.add(run)
    signal?.addEventListener('abort', cancel, { once: true })
    begin(run, taskset, planned, agent, { settings, deadlines: merged.deadlines }).catch(error => finish(run, error))
    if (signal?.aborted) cancel()
    return source.stream
  }

  /** A group goes to one stream: two that wait for it at once would leave one of them waiting for ever. */
  function refuseRunning({ plans, step, round }: Planned): void {
    const running = plans.filter(({ groupId }) => [...active].some(({ expected }) => expected.has(groupId)))
    const slugs = running.map(({ task }) => task.slug)
    if (slugs.length > 0) throw stepRunning(ports.name, step, round, slugs)
  }

  /** Counts as planned what does not yet. */
  function count(plans: readonly GroupPlan[]): void {
    const added = plans.filter(({ groupId }) => !open.has(groupId))
    for (const { groupId } of added) open.add(groupId)
    progress.planned(added.length, countRuns(added))
  }

  async function begin(
    run: ActiveRun,
    taskset: Taskset,
    { plans, again }: Planned,
    agent: AgentSpec,
    { settings, deadlines }: { readonly settings: EngineSettings; readonly deadlines: RunOptions['deadlines'] },
  ): Promise<void> {
    engines.use(settings.runtime)
    await preflight(taskset, agent, settings.runtime, toProvisionPlan(settings, countRuns(plans)), deadlines)
    if (!active.has(run)) return
    // On several machines another process may have the job: that is found out before anything is made of what is here.
    if (settings.cluster !== undefined) await engines.get(settings)
    if (!active.has(run)) return
    const kept = again ? groups.filter(({ groupId }) => run.expected.has(groupId)) : []
    for (const group of kept) deliver(group)
    const left = again ? plans.filter(({ groupId }) => run.expected.has(groupId)) : plans
    count(left)
    const { ended, open: unfinished, retold } = await recall.sortPlans(left, again)
    progress.planned(0, retold)
    report?.began({ group: plans[0]?.members.length ?? 1, tasksetId: taskset.platformId })
    for (const group of ended) {
      open.delete(group.groupId)
      for (const run of group.runs) progress.runOver(run)
      progress.groupOver()
      if (!again) report?.groupRecalled(group)
      if (ports.keepsGroups) groups.push(group)
      deliver(group)
    }
    if (unfinished.length === 0 || !active.has(run)) return
    const engine = await engines.get(settings)
    if (!active.has(run) || cancelled.has(run)) return
    if (expected > 0) engine.expect(expected)
    expected = 0
    engine.run(unfinished, agent)
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
    const { finishedRuns, plannedRuns } = snapshot()
    const kept = { durable: finishedRuns, pending: plannedRuns - finishedRuns, journal: journal?.location }
    for (const each of [...active]) finish(each, failure ?? runCancelled(kept))
  }

  function snapshot(): JobSnapshot {
    const creditsInUse = engines.running.reduce((sum, engine) => sum + engine.creditsInUse, 0)
    return progress.snapshot({ waitingBytes: waiting.bytes, creditsInUse })
  }

  async function endEngines(): Promise<void> {
    const [first] = active
    if (first !== undefined) await cancelRun(first)
    stopWatching()
    progress.close()
    try {
      await engines.close()
    } finally {
      await report?.close()
    }
  }

  function stopEngines(): Promise<void> {
    stopping ??= endEngines()
    return stopping
  }

  return {
    runtime: ports.defaults.runtime,
    records: ports.records,
    groups,
    get reported() {
      return report === undefined ? undefined : { ...report.counts, url: report.url }
    },
    lost: lost.signal,
    stream,
    expect(rollouts) {
      // The pool of the engine that runs the job; others have been started for single runs.
      const [engine] = engines.running
      if (engine === undefined) expected = rollouts
      else engine.expect(rollouts)
    },
    snapshot,
    live: async most => mergeLive(await Promise.all(engines.running.map(engine => engine.live(most))), most),
    async *earlierGroups() {
      if (!ports.resumed || journal === undefined) return
      const { startedAt } = snapshot()
      for await (const group of journal.groups(jobId))
        if (group.runs.every(({ endedAt }) => endedAt < startedAt)) yield group
    },
    async findRun(runId) {
      const durable = await journal?.run(runId)
      if (durable !== undefined) return toRun(durable.header, durable.trajectory)
      for (const group of groups) for (const run of group.runs) if (run.runId === runId) return run
      return undefined
    },
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

function countRuns(plans: readonly GroupPlan[]): number {
  return plans.reduce((sum, { members }) => sum + members.length, 0)
}

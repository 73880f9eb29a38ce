import type { Clock } from '../clock.ts'
import type { JobEntry, RuntimeRequest } from '../cluster/job-board.ts'
import type { ErrorData } from '../errors.ts'
import { type GroupId, randomIds } from '../ids.ts'
import { makeRecall } from '../job/recall.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { WaitingBytes } from '../stream/credits.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'
import type { Engine } from './engine.ts'
import { startLocalEngine } from './local.ts'
import { toEngineSettings, toProvisionPlan } from './settings.ts'
import { startThreadedEngine } from './threaded.ts'

/** What a worker may have, whatever job it is for. */
export interface WorkerLimits {
  readonly maxConcurrent: number
  readonly threads?: number
  readonly maxSandboxes?: number
}

/** Runs that are packed and wait for the stream: so much, and no new group begins. */
export const WAITING_BYTES = 256 * 2 ** 20

export interface WorkerEnginePorts {
  readonly limits: WorkerLimits
  readonly clock: Clock
  readonly waiting: WaitingBytes
  readonly makeRuntime: (request: RuntimeRequest) => Promise<Runtime>
  /** The share of a group's runs that the coordinator draws. */
  readonly traced: (groupId: GroupId) => number | undefined
  readonly onRun: (header: RunHeader, trajectory: Uint8Array, trace: RunTrace | undefined) => void
  readonly onGroup: (groupId: GroupId) => void
  readonly onFailed: (error: ErrorData) => void
}

/** An engine of this worker's own, without a journal: what ends is for the stream. Rejects where this machine cannot have the runtime. */
export async function startWorkerEngine(
  { jobId, runtime: request, engine: asked }: JobEntry,
  { limits, clock, waiting, makeRuntime, traced, onRun, onGroup, onFailed }: WorkerEnginePorts,
): Promise<{ readonly runtime: Runtime; readonly engine: Engine }> {
  const runtime = await makeRuntime(request)
  try {
    const { maxConcurrent, threads, maxSandboxes } = limits
    const settings = toEngineSettings({
      ...asked,
      runtime,
      maxConcurrent,
      pool: { ...asked.pool, ...(maxSandboxes === undefined ? {} : { maxSandboxes }) },
      ...(threads === undefined ? {} : { threads }),
      // The coordinator sees all groups of the job, and stops it where none can be graded.
      deadGroupLimit: Number.MAX_SAFE_INTEGER,
      clock,
      ids: randomIds,
    })
    await runtime.preflight(toProvisionPlan(settings))
    const recall = makeRecall(undefined, false)
    const start = settings.threads === 0 ? startLocalEngine : startThreadedEngine
    const engine = start(settings, {
      jobId,
      journal: undefined,
      waiting,
      durableRuns: recall.durableRuns,
      traced,
      onRun(header, trajectory, trace) {
        recall.remember(header)
        onRun(header, trajectory, trace)
      },
      onGroup(group) {
        recall.forget(group)
        onGroup(group.groupId)
      },
      onFailed,
    })
    waiting.onRoom(() => engine.room())
    return { runtime, engine }
  } catch (error) {
    await runtime.close()
    throw error
  }
}

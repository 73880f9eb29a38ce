import type { AgentRef } from '../agents/agent.ts'
import { toErrorData } from '../errors.ts'
import type { RunId } from '../ids.ts'
import type { JobReport, ReportCounts, ReportedJob } from '../job/reporter.ts'
import { notedSecrets } from '../redact.ts'
import { packedWords, toPacked } from '../rollout/pack.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { Task } from '../taskset/task.ts'
import { publish } from '../telemetry/channels.ts'
import type { TraceEnter } from './bodies.ts'
import { reportNotMade, reportNotRemembered, reportsDropped } from './errors.ts'
import { dashed, namedUuid } from './ids.ts'
import { openReportMemory } from './report-memory.ts'
import type { FromReports, ReportThreadData } from './report-messages.ts'
import { startReportThread } from './report-thread.ts'

export interface JobReportOptions extends ReportThreadData {
  readonly closeMs: number
}

/** A run that is not over, or whose group is not. */
interface Told {
  readonly traceId: string
  readonly body: TraceEnter
  isOver: boolean
}

/** How much more than waits in the thread may be on its way there, so that one that stands still fills no memory. */
const SLACK = 2

/** What the engine's thread does for a report: it copies bytes and counts. All else is done in a thread of its own. */
export async function openJobReport(job: ReportedJob, options: JobReportOptions): Promise<JobReport> {
  const { jobId, clock } = job
  const { closeMs, ...threadData } = options
  const { limits, addresses } = options
  const memory = await openReportMemory(job.records, job.ids, error => problem(reportNotRemembered(error)))
  const url = `${addresses.webUrl}/jobs/${dashed(memory.platformJobId)}`
  /** By run, until its group is over. */
  const told = new Map<RunId, Told>()
  /** Ends that the thread has not settled. */
  const unsettled = new Map<string, { readonly runId: RunId; readonly bytes: number }>()
  let unsettledBytes = 0
  const counts = { reported: 0, failed: 0, dropped: 0 }
  let hasBegun = false
  let hasToldOfRoom = false
  /** Secrets that the thread hides. */
  const hidden = new Set<string>()
  let isLost = false
  let closing: Promise<ReportCounts> | undefined
  const thread = startReportThread(threadData, clock, heard, lost)

  function heard(message: FromReports): void {
    if (message.type === 'job-entered') memory.noteEntered()
    if (message.type === 'problem') {
      if (message.error.tag === 'reports-dropped') tellOfRoom()
      else publish('report', { type: 'problem', jobId, error: message.error })
    }
    if (message.type !== 'settled') return
    const reported: string[] = []
    for (const [traceId, as] of message.traces) {
      const entry = unsettled.get(traceId)
      if (entry === undefined) continue
      unsettled.delete(traceId)
      unsettledBytes -= entry.bytes
      counts[as] += 1
      if (as === 'reported') reported.push(entry.runId)
    }
    memory.noteReported(reported)
  }

  function lost(error: unknown): void {
    isLost = true
    counts.dropped += unsettled.size
    unsettled.clear()
    unsettledBytes = 0
    problem(error)
  }

  function problem(error: unknown): void {
    publish('report', { type: 'problem', jobId, error: toErrorData(error) })
  }

  /** Once, whether it is missing here or in the thread. */
  function tellOfRoom(): void {
    if (!hasToldOfRoom) problem(reportsDropped(limits.traces, limits.bytes))
    hasToldOfRoom = true
  }

  /** Before anything that may hold one. */
  function tellSecrets(): void {
    const fresh = [...notedSecrets()].filter(secret => !hidden.has(secret))
    if (fresh.length === 0) return
    for (const secret of fresh) hidden.add(secret)
    thread.tell({ type: 'secrets', secrets: fresh })
  }

  function tellOf(runId: RunId, groupId: string, taskSlug: string, model: string | undefined): Told {
    const known = told.get(runId)
    if (known !== undefined) return known
    const entry: Told = {
      traceId: namedUuid(memory.platformJobId, runId),
      body: {
        job_id: memory.platformJobId,
        group_id: namedUuid(memory.platformJobId, groupId),
        task_slug: taskSlug,
        ...(model === undefined ? {} : { model }),
      },
      isOver: false,
    }
    told.set(runId, entry)
    return entry
  }

  function end({ ...header }: RunHeader, packed: () => Uint8Array): void {
    const { traceId, body } = tellOf(header.runId, header.groupId, header.task.slug, undefined)
    if (isLost || unsettled.size >= SLACK * limits.traces || unsettledBytes >= SLACK * limits.bytes) {
      counts.dropped += 1
      if (!isLost) tellOfRoom()
      return
    }
    tellSecrets()
    try {
      // A buffer of its own, whatever the run's is part of, and no larger than it need be.
      const trajectory = new Uint8Array(options.samples ? packed() : packedWords(packed()))
      const bytes = trajectory.byteLength
      thread.tell({ type: 'end', traceId, body, header, trajectory }, [trajectory.buffer])
      unsettled.set(traceId, { runId: header.runId, bytes })
      unsettledBytes += bytes
    } catch (error) {
      // A journal that does not give it, or something in it that is no data.
      counts.failed += 1
      problem(reportNotMade(header.runId, error))
    }
  }

  function read(): ReportCounts {
    return { ...counts, waiting: unsettled.size }
  }

  async function close(): Promise<ReportCounts> {
    await thread.close(closeMs)
    counts.dropped += unsettled.size
    unsettled.clear()
    await memory.settled()
    publish('report', { type: 'closed', jobId, url, counts: read() })
    return read()
  }

  publish('report', { type: 'opened', jobId, url })
  return {
    url,
    get counts() {
      return read()
    },
    began({ group, tasksetId }) {
      if (hasBegun || memory.isEntered) return
      hasBegun = true
      const body = { name: job.name, group, ...(tasksetId === undefined ? {} : { taskset_id: tasksetId }) }
      thread.tell({ type: 'enter-job', jobId: memory.platformJobId, body })
    },
    groupStarted({ plan, durable }, agent) {
      const over = new Set<RunId>(durable.map(({ header }) => header.runId))
      const model = modelOf(agent, plan.task)
      const fresh = plan.members.filter(({ runId }) => !over.has(runId) && !told.has(runId))
      const traces = fresh.map(({ runId }) => tellOf(runId, plan.groupId, plan.task.slug, model))
      if (traces.length > 0)
        thread.tell({ type: 'enter', traces: traces.map(({ traceId, body }) => ({ traceId, body })) })
    },
    runEnded(header, trajectory) {
      const entry = told.get(header.runId)
      if (entry?.isOver === true || memory.reported.has(header.runId) || closing !== undefined) return
      end(header, () => trajectory)
      const ended = told.get(header.runId)
      if (ended !== undefined) ended.isOver = true
    },
    groupEnded({ runs }) {
      for (const { runId } of runs) told.delete(runId)
    },
    groupRecalled({ runs }) {
      for (const run of runs) {
        if (memory.reported.has(run.runId) || closing !== undefined) continue
        end(run, () => toPacked(run))
        told.delete(run.runId)
      }
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** The model that an agent samples, where its config names one, or its task another. */
function modelOf(agent: AgentRef, task: Task): string | undefined {
  if (agent.kind === 'held' || agent.kind === 'scripted') return undefined
  const model = task.agent_config?.model ?? agent.config.model
  return typeof model === 'string' ? model : undefined
}

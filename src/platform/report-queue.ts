import type { Clock } from '../clock.ts'
import { type ErrorData, hasTag, toErrorData } from '../errors.ts'
import { unpackTrajectory, unpackWords } from '../rollout/pack.ts'
import type { RunHeader } from '../rollout/run.ts'
import { CANCELLED, type JobEnter, type TraceEnter, toTraceExit } from './bodies.ts'
import { deliver, REPORT_POLICY, type RetryPolicy, UPLOAD_POLICY } from './deliver.ts'
import { reportNotMade, reportsDropped } from './errors.ts'
import type { ReportHttp } from './http.ts'
import type { PlatformAddresses } from './settings.ts'
import { BATCH_LIMITS, type BatchLimits, toSafeJson, toUploads } from './spans.ts'
import { type ToldTrajectory, toSteps } from './steps.ts'

/** What became of one run's report. */
export type Settlement = 'reported' | 'failed' | 'dropped'

export interface QueueLimits {
  /** Requests under way at once. */
  readonly lanes: number
  /** Traces that may wait, and the bytes of what waits. */
  readonly traces: number
  readonly bytes: number
}

export interface QueuePorts {
  readonly http: ReportHttp
  readonly clock: Clock
  readonly addresses: PlatformAddresses
  readonly limits: QueueLimits
  readonly batch?: BatchLimits
  readonly samples: boolean
  readonly jobEntered: () => void
  /** Each trace of which `end` was called, once. */
  readonly settled: (traceId: string, as: Settlement) => void
  /** The first trouble of each kind. */
  readonly problem: (error: ErrorData) => void
}

/** A run that ended: `trajectory` as it is packed, or only its words where no samples are told, and the queue's own. */
export interface EndedRun {
  readonly header: RunHeader
  readonly trajectory: Uint8Array
}

interface Entry {
  readonly traceId: string
  readonly body: TraceEnter
  end: EndedRun | undefined
  bytes: number
}

/** Beside its trajectory: headers, bodies, and what holds them. */
const ENTRY_BYTES = 2_048
/** Refusals of the key in a row after which nothing more is sent. */
const MOST_REFUSALS = 3
const NOTHING: ToldTrajectory = { prompt: null, turns: [], answer: null, grade: null }

/**
 * Sends what a job reports: each trace's entry, then its spans, then its exit, a few traces at a time and first come first served. Where more comes
 * than goes, the oldest that wait are dropped. Made for a thread of its own: it unpacks and words what it sends.
 */
export class ReportQueue {
  readonly #ports: QueuePorts
  /** In the order of their coming; none of them is being sent. */
  readonly #ready = new Map<string, Entry>()
  readonly #sending = new Map<string, Entry>()
  /** Entered at the platform, and not over. */
  readonly #open = new Map<string, TraceEnter>()
  readonly #told = new Set<string>()
  readonly #stop = new AbortController()
  #isEnteringJob = false
  #isClosing = false
  #bytes = 0
  #refusals = 0
  #rested: (() => void) | undefined

  constructor(ports: QueuePorts) {
    this.#ports = ports
  }

  /** Goes before everything else. */
  async enterJob(jobId: string, body: JobEnter): Promise<void> {
    this.#isEnteringJob = true
    try {
      await this.#post(`${this.#ports.addresses.apiUrl}/v2/trace/job/${jobId}/enter`, toSafeJson(body), REPORT_POLICY)
      this.#ports.jobEntered()
    } catch (error) {
      this.#tell(error)
    }
    this.#isEnteringJob = false
    this.#pump()
  }

  /** A run began. */
  enter(traceId: string, body: TraceEnter): void {
    this.#take(traceId, body)
    this.#makeRoom()
    this.#pump()
  }

  /** A run is over. `body` enters a trace that has not been entered yet. */
  end(traceId: string, body: TraceEnter, end: EndedRun): void {
    const entry = this.#take(traceId, body)
    entry.end = end
    this.#count(entry, end.trajectory.byteLength)
    this.#makeRoom()
    this.#pump()
  }

  /** Closes traces that have no end, sends what there is until `deadlineMs` from now, and drops the rest. */
  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true
    // They have begun, and nobody was told of it yet.
    for (const entry of [...this.#ready.values()]) if (entry.end === undefined) this.#forget(entry)
    for (const [traceId, body] of this.#open)
      if (!this.#sending.has(traceId) && !this.#ready.has(traceId)) this.#take(traceId, body)
    await new Promise<void>(resolve => {
      const cancel = this.#ports.clock.after(deadlineMs, () => {
        this.#stop.abort()
        for (const entry of [...this.#ready.values()]) this.#drop(entry)
        void this.#ports.http.close()
      })
      this.#rested = () => {
        cancel()
        resolve()
      }
      this.#pump()
    })
    await this.#ports.http.close()
  }

  #take(traceId: string, body: TraceEnter): Entry {
    const known = this.#sending.get(traceId) ?? this.#ready.get(traceId)
    if (known !== undefined) return known
    const entry: Entry = { traceId, body, end: undefined, bytes: 0 }
    this.#ready.set(traceId, entry)
    this.#count(entry, ENTRY_BYTES)
    return entry
  }

  #count(entry: Entry, bytes: number): void {
    entry.bytes += bytes
    this.#bytes += bytes
  }

  #makeRoom(): void {
    const { traces, bytes } = this.#ports.limits
    for (const entry of this.#ready.values()) {
      if (this.#ready.size <= traces && this.#bytes <= bytes) return
      if (entry.end !== undefined) this.#tell(reportsDropped(traces, bytes))
      this.#drop(entry)
    }
  }

  #drop(entry: Entry): void {
    this.#forget(entry)
    if (entry.end !== undefined) this.#ports.settled(entry.traceId, 'dropped')
  }

  #forget({ traceId, bytes }: Entry): void {
    this.#ready.delete(traceId)
    this.#bytes -= bytes
  }

  #pump(): void {
    if (this.#isEnteringJob && !this.#stop.signal.aborted) return
    while (this.#sending.size < this.#ports.limits.lanes) {
      const [entry] = this.#ready.values()
      if (entry === undefined) break
      this.#ready.delete(entry.traceId)
      this.#sending.set(entry.traceId, entry)
      void this.#send(entry).finally(() => this.#sent(entry))
    }
    if (this.#sending.size === 0 && this.#ready.size === 0 && !this.#isEnteringJob) this.#rested?.()
  }

  #sent(entry: Entry): void {
    this.#sending.delete(entry.traceId)
    // Its run ended while it was being entered.
    if (entry.end !== undefined) {
      this.#ready.set(entry.traceId, entry)
      if (this.#stop.signal.aborted) this.#drop(entry)
    } else this.#bytes -= entry.bytes
    this.#pump()
  }

  /** Never rejects: whatever goes wrong is told, and counted against the run. */
  async #send(entry: Entry): Promise<void> {
    const { traceId, body, end } = entry
    let isWhole = true
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work()
      } catch (error) {
        isWhole = false
        this.#tell(error)
      }
    }
    if (!this.#open.has(traceId))
      await attempt(async () => {
        await this.#post(this.#trace(traceId, 'enter'), toSafeJson(body), REPORT_POLICY)
        this.#open.set(traceId, body)
      })
    if (end === undefined) {
      // Its job is over, and it will not end any more.
      if (this.#isClosing && entry.end === undefined && this.#open.delete(traceId))
        await attempt(() => this.#post(this.#trace(traceId, 'exit'), toSafeJson(CANCELLED), REPORT_POLICY))
      return
    }
    entry.end = undefined
    const { header } = end
    let trajectory = NOTHING
    await attempt(async () => {
      trajectory = unpack(end, this.#ports.samples)
      const steps = toSteps(header, trajectory, { samples: this.#ports.samples, model: body.model })
      const url = `${this.#ports.addresses.telemetryUrl}/trace/${traceId}/telemetry-upload`
      for (const json of toUploads(steps, traceId, this.#ports.batch ?? BATCH_LIMITS))
        await this.#post(url, json, UPLOAD_POLICY)
    })
    await attempt(() =>
      this.#post(this.#trace(traceId, 'exit'), toSafeJson(toTraceExit(header, trajectory)), REPORT_POLICY),
    )
    this.#open.delete(traceId)
    const wasCut = !isWhole && this.#stop.signal.aborted
    this.#ports.settled(traceId, isWhole ? 'reported' : wasCut ? 'dropped' : 'failed')
  }

  async #post(url: string, json: string, policy: RetryPolicy): Promise<void> {
    const { http, clock } = this.#ports
    if (this.#refusals >= MOST_REFUSALS) throw new Error('the platform refuses the key')
    try {
      await deliver(http, { url, json }, policy, clock, this.#stop.signal)
      this.#refusals = 0
    } catch (error) {
      this.#refusals = hasTag(error, 'report-unauthorized') ? this.#refusals + 1 : 0
      throw error
    }
  }

  #trace(traceId: string, what: 'enter' | 'exit'): string {
    return `${this.#ports.addresses.apiUrl}/v2/trace/${traceId}/${what}`
  }

  /** Not what is cut because time is up: that is counted. */
  #tell(error: unknown): void {
    const data = toErrorData(error)
    if (this.#stop.signal.aborted || this.#told.has(data.tag) || this.#refusals >= MOST_REFUSALS) return
    this.#told.add(data.tag)
    this.#ports.problem(data)
  }
}

function unpack({ header, trajectory }: EndedRun, samples: boolean): ToldTrajectory {
  try {
    return samples ? unpackTrajectory(trajectory) : unpackWords(trajectory)
  } catch (error) {
    throw reportNotMade(header.runId, error)
  }
}

import type { ErrorData } from '../errors.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { JobEnter, TraceEnter } from './bodies.ts'
import type { QueueLimits, Settlement } from './report-queue.ts'
import type { PlatformAddresses } from './settings.ts'

/** What the thread that sends reports is started with. */
export interface ReportThreadData {
  readonly addresses: PlatformAddresses
  readonly key: string
  readonly requestMs: number
  readonly limits: QueueLimits
  readonly samples: boolean
}

/** What it is told, in this order for each trace. */
export type ToReports =
  | { readonly type: 'enter-job'; readonly jobId: string; readonly body: JobEnter }
  | { readonly type: 'enter'; readonly traces: readonly { readonly traceId: string; readonly body: TraceEnter }[] }
  | {
      readonly type: 'end'
      readonly traceId: string
      readonly body: TraceEnter
      readonly header: RunHeader
      /** Packed, without its tokens where no samples are told, and handed over. */
      readonly trajectory: Uint8Array<ArrayBuffer>
    }
  /** To be hidden from here on: the thread has a copy of the variables, and no knowledge of what code was given since. */
  | { readonly type: 'secrets'; readonly secrets: readonly string[] }
  | { readonly type: 'close'; readonly deadlineMs: number }

export type FromReports =
  | { readonly type: 'job-entered' }
  /** What became of traces that ended, some at a time. */
  | { readonly type: 'settled'; readonly traces: readonly (readonly [traceId: string, as: Settlement])[] }
  | { readonly type: 'problem'; readonly error: ErrorData }
  /** Its last word. */
  | { readonly type: 'closed' }

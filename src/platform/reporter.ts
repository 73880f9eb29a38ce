import type { Reporter } from '../job/reporter.ts'
import { noPlatformKey } from './errors.ts'
import type { QueueLimits } from './report-queue.ts'
import { type PlatformOptions, platformAddresses, platformKey } from './settings.ts'

/** How much a reporter to the platform may have under way and keep waiting. */
export interface PlatformReporterOptions extends PlatformOptions {
  /** Requests under way at once. Default 8. */
  readonly lanes?: number
  /** Runs that may wait to be sent, and their bytes: past either the oldest are dropped. Default 10,000 and 64 MiB. */
  readonly maxWaiting?: number
  readonly maxWaitingBytes?: number
  /** For one request, milliseconds. Default 30,000. */
  readonly requestMs?: number
  /** How long a job that closes waits for its last reports, milliseconds. Default 10,000. */
  readonly closeMs?: number
  /** With the token ids and logprobs of each turn: many times the bytes, and whatever secret was sampled is in them. Default false. */
  readonly samples?: boolean
}

const LANES = 8
const WAITING = 10_000
const WAITING_BYTES = 64 * 1024 * 1024
const REQUEST_MS = 30_000
const CLOSE_MS = 10_000

/**
 * Reports jobs, traces and their steps to HUD's platform, from a thread of its own: the `reporter` of a job. It may serve several jobs.
 * Throws `no-key` or `bad-platform-url`; nothing is sent before a job is started with it.
 */
export function createPlatformReporter(options: PlatformReporterOptions = {}): Reporter {
  const key = platformKey(options)
  if (key === undefined) throw noPlatformKey('reporting to the platform')
  const addresses = platformAddresses(options)
  const limits: QueueLimits = {
    lanes: options.lanes ?? LANES,
    traces: options.maxWaiting ?? WAITING,
    bytes: options.maxWaitingBytes ?? WAITING_BYTES,
  }
  return {
    async open(job) {
      const { openJobReport } = await import('./job-report.ts')
      return openJobReport(job, {
        key,
        addresses,
        limits,
        requestMs: options.requestMs ?? REQUEST_MS,
        samples: options.samples ?? false,
        closeMs: options.closeMs ?? CLOSE_MS,
      })
    },
  }
}

import type { Job } from '../job/job.ts'
import type { Tokenizer } from '../policy/tokenizer.ts'
import { eventsLate, eventsNotWritten, tracesNotSent } from '../telemetry/errors.ts'
import type { Cli } from './cli.ts'
import { missingOption } from './errors.ts'
import type { ObserveArguments } from './observe-options.ts'
import { openWatched, type WatchArguments } from './watched.ts'

/** What watches a job for somebody outside. */
export interface Observers {
  /** From now on this job is shown. Before its first run. */
  attach(job: Job): Promise<void>
  /** Tells that the job is over, and gives up what lies beside its journal. Before the job is closed. */
  over(): Promise<void>
  /** Writes what waits, and ends server and file. Once the job is closed, so that its end is written, too. Never rejects. */
  close(): Promise<void>
}

/** Takes the port and opens the file, before anything else is begun: what is wrong with them leaves nothing behind. */
export async function openObservers(
  options: ObserveArguments & WatchArguments,
  cli: Cli,
  tokenizer: () => Promise<Tokenizer | undefined> = async () => undefined,
): Promise<Observers> {
  const { metrics, events, traces, tracesShare } = options
  if (tracesShare !== undefined && traces === undefined)
    throw missingOption('--traces', '--traces-share is a share of what it sends')
  const opened: Observers[] = []
  const close = async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  try {
    if (metrics !== undefined) opened.push(await serveMetrics(metrics, cli))
    if (events !== undefined) opened.push(await writeEvents(events, cli))
    if (traces !== undefined) opened.push(sendTraces(traces, tracesShare, cli))
    opened.push(await openWatched(options, cli, tokenizer))
  } catch (error) {
    await close()
    throw error
  }
  return {
    async attach(job) {
      for (const each of opened) await each.attach(job)
    },
    async over() {
      for (const each of opened) await each.over()
    },
    close,
  }
}

async function serveMetrics(at: NonNullable<ObserveArguments['metrics']>, { console }: Cli): Promise<Observers> {
  const { openMetricsEndpoint } = await import('../telemetry/metrics/endpoint.ts')
  const { createMetrics } = await import('../telemetry/metrics/create-metrics.ts')
  const endpoint = await openMetricsEndpoint(at)
  console.need(`metrics: ${endpoint.url}`)
  let stop = () => {}
  return {
    async attach(job) {
      const metrics = await createMetrics(job)
      stop = metrics.close
      endpoint.show(metrics)
    },
    over: async () => {},
    async close() {
      stop()
      await endpoint.close()
    },
  }
}

async function writeEvents(path: string, { clock, console, tell }: Cli): Promise<Observers> {
  const { openAppendFile } = await import('../telemetry/events/append-file.ts')
  const { makeEventLog } = await import('../telemetry/events/event-log.ts')
  const { recordEvents } = await import('../telemetry/events/record-events.ts')
  const file = await openAppendFile(path)
  let end = () => file.close()
  return {
    async attach(job) {
      const log = makeEventLog({
        file,
        job: job.jobId,
        clock,
        onFailed: error => void tell(eventsNotWritten(path, error)),
        onLate: (waitedMs, missing) => void tell(eventsLate(path, waitedMs, missing)),
      })
      const stop = recordEvents(job, log, clock)
      end = async () => {
        stop()
        await log.close()
        if (log.dropped > 0) console.need(`${path}: ${log.dropped} events were dropped`)
      }
    },
    over: async () => {},
    close: () => end(),
  }
}

function sendTraces(url: string, share: number | undefined, { clock, console, tell }: Cli): Observers {
  let end = async () => {}
  return {
    async attach(job) {
      const { createTraces } = await import('../telemetry/traces/create-traces.ts')
      const onFailed = (error: unknown) => void tell(tracesNotSent(url, error))
      const traces = await createTraces(job, { url, clock, onFailed, ...(share === undefined ? {} : { share }) })
      end = async () => {
        await traces.close()
        if (traces.dropped > 0) console.need(`${url}: ${traces.dropped} spans were not sent`)
      }
    },
    over: async () => {},
    close: () => end(),
  }
}

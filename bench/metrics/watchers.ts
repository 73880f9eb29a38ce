import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import type { Job } from '../../src/job/job.ts'
import { openAppendFile } from '../../src/telemetry/events/append-file.ts'
import { makeEventLog } from '../../src/telemetry/events/event-log.ts'
import { recordEvents } from '../../src/telemetry/events/record-events.ts'
import { createMetrics } from '../../src/telemetry/metrics/create-metrics.ts'
import { openMetricsEndpoint } from '../../src/telemetry/metrics/endpoint.ts'
import { createTraces } from '../../src/telemetry/traces/create-traces.ts'
import type { Scraper } from './scraper.ts'
import type { Sink } from './sink.ts'

/** Who watches a round: nobody; a scraper and an event file; those and a receiver of traces. */
export type Watch = 'off' | 'metrics' | 'traces'

/** The processes that watch. */
export interface Watchers {
  readonly scraper: Scraper
  readonly sink: Sink
}

/** A job that is watched. */
export interface Watched {
  scrapes(): Promise<number>
  /** After the job: lines of the event file and spans that were received, those of the warm-up too. Rejects where any were dropped. */
  end(): Promise<{ readonly events: number; readonly spans: number }>
}

/** Just what `--metrics`, `--events` and `--traces` open. */
export async function watch(
  job: Job,
  how: Exclude<Watch, 'off'>,
  path: string,
  { scraper, sink }: Watchers,
): Promise<Watched> {
  const endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 })
  const metrics = await createMetrics(job)
  endpoint.show(metrics)
  const log = makeEventLog({
    file: await openAppendFile(path),
    job: job.jobId,
    clock: systemClock,
    // What is missing is counted, and thrown at the end.
    onFailed: () => {},
    onLate: () => {},
  })
  const stop = recordEvents(job, log, systemClock)
  const before = await sink.count()
  const traces = how === 'traces' ? await createTraces(job, { url: sink.url }) : undefined
  await scraper.begin(endpoint.url)
  return {
    scrapes: () => scraper.count(),
    async end() {
      await scraper.end()
      stop()
      await log.close()
      await traces?.close()
      metrics.close()
      await endpoint.close()
      const dropped = log.dropped + (traces?.dropped ?? 0)
      if (dropped > 0) throw new Error(`${dropped} events and spans were dropped`)
      return { events: readFileSync(path, 'utf8').split('\n').length - 1, spans: (await sink.count()) - before }
    },
  }
}

import type { Clock } from '../clock.ts'
import type { Job } from '../job/job.ts'
import { type EventLog, makeEventLog } from '../telemetry/events/event-log.ts'
import type { JobEvent } from '../telemetry/events/job-event.ts'
import { recordEvents } from '../telemetry/events/record-events.ts'
import type { Console } from './console.ts'

/** What `--json` prints on stdout while a command runs: a line an event, as `--events` writes them, and the result as the last line. */
export interface JsonEvents {
  /** From now on what happens to this job is told. */
  attach(job: Pick<Job, 'jobId' | 'snapshot'>): void
  append(event: JobEvent): void
  /**
   * Writes what waits, and then the result, however long the reader takes: some thousands of events wait for a slow one, more are dropped and counted, and the
   * result never is.
   */
  finish(result: unknown): Promise<void>
  /** Writes what waits. For a command that has no result. */
  close(): Promise<void>
}

/** Writes nothing before something happens. */
export function openJsonEvents(
  { print }: Pick<Console, 'print'>,
  clock: Clock,
  onFailed: (error: unknown) => void,
): JsonEvents {
  let jobId: string | undefined
  let log: EventLog | undefined
  let stop = () => {}

  function open(): EventLog {
    log ??= makeEventLog({
      file: {
        async append(lines) {
          // One who has seen enough is no failure: what is left is for nobody.
          await print(lines.join('\n'))
          return { written: lines.length }
        },
        async close() {},
      },
      ...(jobId === undefined ? {} : { job: jobId }),
      clock,
      closeMs: null,
      onFailed,
      onLate() {},
    })
    return log
  }

  async function close(): Promise<void> {
    stop()
    stop = () => {}
    await log?.close()
  }

  return {
    attach(job) {
      jobId = job.jobId
      stop = recordEvents(job, open(), clock)
    },
    append: event => open().append(event),
    async finish(result) {
      await close()
      const job = jobId === undefined ? {} : { job: jobId }
      await print(JSON.stringify({ at: new Date(clock.wallTime()).toISOString(), type: 'result', ...job, result }))
    },
    close,
  }
}

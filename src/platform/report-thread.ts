import { Worker } from 'node:worker_threads'
import type { Clock } from '../clock.ts'
import { reportThreadLost } from './errors.ts'
import type { FromReports, ReportThreadData, ToReports } from './report-messages.ts'

/** The thread that sends reports, as the one that makes them sees it. It keeps no process alive until it is closed. */
export interface ReportThread {
  /** Nothing once it has ended. */
  tell(message: ToReports, transfer?: readonly ArrayBuffer[]): void
  /** Lets it send for `deadlineMs`, waits a little longer for its last word, and ends it. Never rejects. */
  close(deadlineMs: number): Promise<void>
}

/** Between the end of its time and its last word. */
const GRACE_MS = 5_000

/** `lost` is told once, if it ends by itself. */
export function startReportThread(
  workerData: ReportThreadData,
  clock: Clock,
  heard: (message: FromReports) => void,
  lost: (error: unknown) => void,
): ReportThread {
  const worker = new Worker(new URL('./report-main.js', import.meta.url), {
    name: 'troupe-report',
    execArgv: [],
    workerData,
  })
  worker.unref()
  let isOver = false
  let onOver = () => {}

  function end(cause?: unknown): void {
    if (isOver) return
    isOver = true
    if (cause !== undefined) lost(reportThreadLost(cause))
    onOver()
  }

  worker.on('message', (message: FromReports) => {
    heard(message)
    if (message.type === 'closed') end()
  })
  worker.on('error', end)
  worker.on('exit', code => end(new Error(`it exited with code ${code}`)))

  return {
    tell(message, transfer = []) {
      if (!isOver) worker.postMessage(message, transfer)
    },
    async close(deadlineMs) {
      if (!isOver) {
        worker.ref()
        worker.postMessage({ type: 'close', deadlineMs } satisfies ToReports)
        await new Promise<void>(resolve => {
          const cancel = clock.after(deadlineMs + GRACE_MS, () => end(new Error('it did not say that it was done')))
          onOver = () => {
            cancel()
            resolve()
          }
        })
      }
      await worker.terminate()
    },
  }
}

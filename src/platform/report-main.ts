/** Runs in the thread that sends reports. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../clock.ts'
import { noteSecret } from '../redact.ts'
import { openReportHttp } from './http.ts'
import type { FromReports, ReportThreadData, ToReports } from './report-messages.ts'
import { ReportQueue, type Settlement } from './report-queue.ts'

/** Some, so that reports still get their share of a machine that is busy with others. */
const NICENESS = 5

const { addresses, key, requestMs, limits, samples }: ReportThreadData = workerData
const clock = systemClock
noteSecret(key)
try {
  // Linux has a niceness for each thread, and 0 is the one that asks: where cores are scarce, rollouts go first.
  setPriority(0, NICENESS)
} catch {
  // It works as well at the priority that it has.
}

/** Settled since the last message: told together, once a turn of the loop. */
let settled: [string, Settlement][] = []

const queue = new ReportQueue({
  http: openReportHttp({ key, connections: limits.lanes, deadlineMs: requestMs, clock }),
  clock,
  addresses,
  limits,
  samples,
  jobEntered: () => answer({ type: 'job-entered' }),
  settled(traceId, as) {
    if (settled.push([traceId, as]) === 1) setImmediate(tellSettled)
  },
  problem: error => answer({ type: 'problem', error }),
})

parentPort?.on('message', (message: ToReports) => {
  switch (message.type) {
    case 'enter-job':
      return void queue.enterJob(message.jobId, message.body)
    case 'enter':
      for (const { traceId, body } of message.traces) queue.enter(traceId, body)
      return
    case 'end':
      return queue.end(message.traceId, message.body, message)
    case 'secrets':
      return message.secrets.forEach(noteSecret)
    case 'close':
      return void close(message.deadlineMs)
  }
})

async function close(deadlineMs: number): Promise<void> {
  await queue.close(deadlineMs)
  tellSettled()
  answer({ type: 'closed' })
}

function tellSettled(): void {
  if (settled.length > 0) answer({ type: 'settled', traces: settled })
  settled = []
}

function answer(message: FromReports): void {
  parentPort?.postMessage(message)
}

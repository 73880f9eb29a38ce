/** The server's thread. It says once whether the policy is served, and ends when it is told to close. */
import { parentPort, workerData } from 'node:worker_threads'
import { toErrorData } from '../../errors.ts'
import type { FromThread, ThreadOptions } from './messages.ts'
import { servePolicy } from './serve-policy.ts'

const tell = (message: FromThread) => parentPort?.postMessage(message)

try {
  const served = await servePolicy(workerData as ThreadOptions)
  parentPort?.once('message', () => void served.close().finally(() => process.exit()))
  tell({ type: 'ready', url: served.url, model: served.model })
} catch (thrown) {
  tell({ type: 'failed', error: toErrorData(thrown) })
}

import { sleep } from '../clock.ts'
import type { JobEntry } from '../cluster/job-board.ts'
import type { LeasePorts, Leases } from '../cluster/leases.ts'
import type { Drained } from '../pool/pool.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { Engine } from './engine.ts'
import { startWorkerEngine, type WorkerEnginePorts } from './worker-engine.ts'

export interface LeasedEnginePorts extends WorkerEnginePorts, Pick<LeasePorts, 'onTrouble'> {
  readonly leases: Leases
  /** The worker ends: it waits no longer for a server that takes no lease. */
  readonly stopping: AbortSignal
}

export interface LeasedEngine {
  readonly runtime: Runtime
  readonly engine: Engine
  /** Ends both, then gives the lease back where nothing is left. Never rejects. */
  close(): Promise<Drained>
}

/** Long before the bucket would forget it. */
const RENEW_MS = 24 * 3_600_000

/**
 * A worker's engine, for as long as a lease says that it may have sandboxes. While the runtime is made, which may take minutes, the lease is written again and again: the
 * coordinator hears nothing else of the worker. Rejects as `startWorkerEngine` does.
 */
export async function startLeasedEngine(entry: JobEntry, ports: LeasedEnginePorts): Promise<LeasedEngine> {
  const { clock, onTrouble, stopping } = ports
  const { jobId, redeliverMs } = entry
  const over = new AbortController()
  const name = entry.runtime.arguments.runtime
  const lease = await ports.leases.take(jobId, typeof name === 'string' ? name : 'local', {
    clock,
    signal: stopping,
    onTrouble,
  })
  let pauseMs = redeliverMs / 4
  const renewing = (async () => {
    while (!over.signal.aborted) {
      // Only the signal ends these.
      await sleep(clock, pauseMs, over.signal).catch(() => {})
      if (!over.signal.aborted) await lease.renew(over.signal).catch(() => {})
    }
  })()
  let made: Runtime | undefined
  const close = async (end: () => Promise<boolean>) => {
    over.abort()
    await renewing
    await lease.giveBack(await end())
  }
  try {
    const started = await startWorkerEngine(entry, {
      ...ports,
      async makeRuntime(request) {
        made = await ports.makeRuntime(request)
        return made
      },
    })
    // It may have been taken for one of a dead worker meanwhile.
    await lease.renew(over.signal)
    pauseMs = RENEW_MS
    return {
      ...started,
      async close() {
        let drained: Drained = { quarantined: [] }
        await close(async () => {
          let isClean = true
          const fail = (error: unknown) => {
            isClean = false
            onTrouble(error)
          }
          await started.engine.close().then(ended => {
            drained = ended
          }, fail)
          await started.runtime.close().catch(fail)
          return isClean && drained.quarantined.length === 0 && drained.providerPool === undefined
        })
        return drained
      },
    }
  } catch (error) {
    // It was closed, and twice is once: whether something is left is asked again.
    await close(async () => {
      const ended = made?.close() ?? Promise.resolve()
      return ended.then(
        () => true,
        () => false,
      )
    })
    throw error
  }
}

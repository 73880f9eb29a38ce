import { Worker } from 'node:worker_threads'
import { type CancelTimer, type Clock, systemClock } from '../../clock.ts'
import { fromErrorData, type TroupeError } from '../../errors.ts'
import { oneServer } from '../../models/endpoint.ts'
import { policyServerLost, policyStartTimeout } from './errors.ts'
import type { FromThread, ThreadOptions, ToThread } from './messages.ts'
import type { PolicyOptions, ServedPolicy } from './options.ts'

const START_DEADLINE_MS = 120_000
const CLOSE_DEADLINE_MS = 30_000

export interface StartedPolicy extends ServedPolicy {
  /** Resolves when the server's thread has ended although nobody closed it. */
  readonly lost: Promise<TroupeError>
}

/**
 * Serves a policy from a thread of its own, with threads for sampling and training below it, so that neither keeps the caller's event
 * loop. Resolves when the policy can answer. All of it ends with the process, however that ends. Rejects with `policy-unreadable`,
 * `wrong-tokenizer`, `other-base`, `policy-directory-held`, `policy-directory-unusable`, `port-taken` or `policy-start-timeout`.
 */
export async function startPolicy({ clock = systemClock, ...options }: PolicyOptions): Promise<StartedPolicy> {
  const worker = new Worker(new URL('./policy-thread.js', import.meta.url), {
    workerData: options satisfies ThreadOptions,
    name: 'policy-server',
    // The program's own flags may be for a program of another kind, such as `--input-type` for one given as text.
    execArgv: [],
  })
  const ended = endOf(worker)
  const ready = await untilReady(worker, ended, options, clock)
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= end(worker, ended, clock)
    return closing
  }
  return {
    url: ready.url,
    endpoint: oneServer(ready.url),
    model: ready.model,
    lost: new Promise(resolve => {
      void ended.then(error => {
        if (closing === undefined) resolve(error)
      })
    }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Resolves when the thread has ended, with what it looks like if nobody asked for that. */
function endOf(worker: Worker): Promise<TroupeError> {
  return new Promise(resolve => {
    let cause: unknown
    worker.on('error', error => {
      cause = error
    })
    worker.on('exit', code => resolve(policyServerLost(cause ?? new Error(`exit code ${code}`))))
  })
}

async function untilReady(
  worker: Worker,
  ended: Promise<TroupeError>,
  { base }: ThreadOptions,
  clock: Clock,
): Promise<Extract<FromThread, { type: 'ready' }>> {
  let cancel: CancelTimer = () => {}
  const answer = new Promise<Extract<FromThread, { type: 'ready' }>>((resolve, reject) => {
    worker.once('message', (message: FromThread) => {
      if (message.type === 'ready') resolve(message)
      else reject(fromErrorData(message.error))
    })
    void ended.then(reject)
    cancel = clock.after(START_DEADLINE_MS, () => reject(policyStartTimeout(base, START_DEADLINE_MS)))
  })
  try {
    return await answer
  } catch (error) {
    await worker.terminate()
    throw error
  } finally {
    cancel()
  }
}

/** Asks first; a thread that does not end in time is ended. */
async function end(worker: Worker, ended: Promise<unknown>, clock: Clock): Promise<void> {
  worker.postMessage({ type: 'close' } satisfies ToThread)
  const cancel = clock.after(CLOSE_DEADLINE_MS, () => void worker.terminate())
  await ended
  cancel()
}

/** A worker thread that answers calls: the caller's end. */
import { Worker } from 'node:worker_threads'
import { fromErrorData } from '../../errors.ts'
import { policyClosed, policyThreadLost } from '../errors.ts'
import type { FromThread, ThreadStart, ToThread } from './messages.ts'

/** How long a thread may take to end once it was asked; then it is ended. */
const CLOSE_DEADLINE_MS = 10_000

export interface Thread<Call> {
  /** Rejects with what the thread threw, or `policy-thread-lost`. `onAbort` of the signal, the thread is told to cancel. */
  ask(
    body: Call,
    options?: { readonly transfer?: ArrayBuffer[]; readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>
  close(): Promise<void>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The thread's program, as it is built. */
const ENTRY = new URL('./entry.js', import.meta.url)

export function startThread<Call>(start: ThreadStart, entry = ENTRY): Thread<Call> {
  const what = `policy's ${start.machine}`
  const worker = new Worker(entry, { workerData: start, name: start.machine })
  const waiting = new Map<number, Waiting>()
  let ids = 0
  let lost: unknown
  let closing: Promise<void> | undefined

  const ended = new Promise<void>(resolve => {
    let cause: unknown
    worker.on('error', error => {
      cause = error
    })
    worker.on('exit', code => {
      lost =
        closing === undefined ? policyThreadLost(what, cause ?? new Error(`exit code ${code}`)) : policyClosed(what)
      for (const { reject } of waiting.values()) reject(lost)
      waiting.clear()
      resolve()
    })
  })
  worker.on('message', (message: FromThread) => {
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.type === 'answer') asked?.resolve(message.value)
    else asked?.reject(fromErrorData(message.error))
  })
  const tell = (message: ToThread<Call>, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer)

  return {
    async ask(body, { transfer, signal } = {}) {
      if (lost !== undefined) throw lost
      if (closing !== undefined) throw policyClosed(what)
      ids += 1
      const id = ids
      const cancel = () => tell({ type: 'cancel', id })
      const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }))
      tell({ type: 'call', id, body }, transfer)
      if (signal?.aborted) cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        return await answer
      } finally {
        signal?.removeEventListener('abort', cancel)
      }
    },
    close() {
      closing ??= (async () => {
        if (lost !== undefined) return
        tell({ type: 'close' })
        const deadline = setTimeout(() => void worker.terminate(), CLOSE_DEADLINE_MS)
        await ended
        clearTimeout(deadline)
      })()
      return closing
    },
  }
}

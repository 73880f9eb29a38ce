import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { BareQuestion } from './bare-thread.ts'
import { type BenchMessage, howMany, tick } from './messages.ts'

/** A worker thread and bare `postMessage`. */
export interface BareThread {
  ask(message: BenchMessage): Promise<unknown>
  /** Posts ticks one a message, and waits until they are counted. */
  tell(ticks: number): Promise<void>
  /** The same in arrays of 512, which the structured clone takes at once. */
  tellInArrays(ticks: number): Promise<void>
  close(): Promise<void>
}

export async function startBareThread(): Promise<BareThread> {
  const worker = new Worker(new URL('./bare-thread.js', import.meta.url))
  await once(worker, 'online')
  const open = new Map<number, (answer: unknown) => void>()
  let lastId = 0
  worker.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    open.get(id)?.(answer)
    open.delete(id)
  })
  const ask = (message: BenchMessage): Promise<unknown> =>
    new Promise(resolve => {
      lastId += 1
      open.set(lastId, resolve)
      worker.postMessage({ id: lastId, message } satisfies BareQuestion)
    })
  return {
    ask,
    async tell(ticks) {
      for (let index = 0; index < ticks; index += 1) worker.postMessage(tick(index))
      await ask(howMany)
    },
    async tellInArrays(ticks) {
      let batch: BenchMessage[] = []
      for (let index = 0; index < ticks; index += 1) {
        batch.push(tick(index))
        if (batch.length < 512) continue
        worker.postMessage(batch)
        batch = []
      }
      worker.postMessage(batch)
      await ask(howMany)
    },
    async close() {
      await worker.terminate()
    },
  }
}

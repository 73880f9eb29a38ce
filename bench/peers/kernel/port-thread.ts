/** A bare `MessagePort`: answers each question, and knows which it was. */
import { type MessagePort, workerData } from 'node:worker_threads'

export interface PortQuestion {
  readonly id: number
  readonly value: number
}

const { port }: { readonly port: MessagePort } = workerData
port.on('message', ({ id, value }: PortQuestion) => {
  port.postMessage({ id, value: value * 2 } satisfies PortQuestion)
})

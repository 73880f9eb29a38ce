/** What a program without a library does in its thread: counts ticks, one a message or many, and answers. */
import { parentPort } from 'node:worker_threads'
import type { BenchMessage } from './messages.ts'

export interface BareQuestion {
  readonly id: number
  readonly message: BenchMessage
}

let ticks = 0
parentPort?.on('message', (message: BenchMessage | readonly BenchMessage[] | BareQuestion) => {
  if (Array.isArray(message)) for (const each of message as readonly BenchMessage[]) count(each)
  else if ('id' in message) {
    const { id, message: question } = message
    parentPort?.postMessage({ id, answer: question.type === 'double' ? question.value * 2 : ticks })
  } else count(message as BenchMessage)
})

function count(message: BenchMessage): void {
  if (message.type === 'tick') ticks += 1
}

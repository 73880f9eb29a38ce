import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Somebody who takes spans, in a process of their own. */
export interface Sink {
  readonly url: string
  /** Spans that have come so far. */
  count(): Promise<number>
  close(): Promise<void>
}

export async function startSink(): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('./sink-main.js', import.meta.url)))
  const gone = once(child, 'exit')
  const ended = gone.then((): never => {
    throw new Error('the sink has ended')
  })
  ended.catch(() => {})
  async function hear(): Promise<{ readonly port?: number; readonly spans?: number }> {
    // The channel is private to the two ends.
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  const { port = 0 } = await hear()
  return {
    url: `http://127.0.0.1:${port}`,
    async count() {
      const answered = hear()
      child.send({})
      return (await answered).spans ?? 0
    },
    async close() {
      child.disconnect()
      await gone
    },
  }
}

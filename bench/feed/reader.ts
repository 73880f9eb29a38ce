import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ReaderMessage } from './reader-main.ts'

/** Somebody who watches. */
export interface Reader {
  /** Resolves with the first message. */
  begin(socket: string): Promise<void>
  /** Ticks that were read so far. */
  count(): Promise<number>
  end(): Promise<void>
  close(): Promise<void>
}

export function startReader(): Reader {
  const child = fork(fileURLToPath(new URL('./reader-main.js', import.meta.url)))
  const gone = once(child, 'exit')
  async function ask(message: ReaderMessage): Promise<number> {
    const answered = once(child, 'message')
    child.send(message)
    const ended = gone.then(() => {
      throw new Error('the reader has ended')
    })
    const [count] = await Promise.race([answered, ended])
    return Number(count)
  }
  return {
    begin: async socket => void (await ask({ type: 'begin', socket })),
    count: () => ask({ type: 'count' }),
    end: async () => void (await ask({ type: 'end' })),
    async close() {
      child.disconnect()
      await gone
    },
  }
}

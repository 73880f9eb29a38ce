import { BroadcastChannel, threadId } from 'node:worker_threads'
import { z } from 'zod'

const CHANNEL = 'troupe-soak-heaps'
/** Rollouts of a thread between two looks: a collection takes some hundredths of a second. */
const EVERY = 1_024

const said = z.object({ threadId: z.number(), bytes: z.number() })

let rollouts = 0
let channel: BroadcastChannel | undefined

/** Says, with every 1,024th rollout of this thread, what its heap and its buffers hold after a collection. */
export function announceHeap(): void {
  rollouts += 1
  if (rollouts % EVERY !== 0) return
  if (channel === undefined) {
    channel = new BroadcastChannel(CHANNEL)
    channel.unref()
  }
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  channel.postMessage({ threadId, bytes: heapUsed + external })
}

/** What the threads said. */
export interface ThreadHeaps {
  /** Of all threads, as each last said. */
  bytes(): number
  close(): void
}

export function hearHeaps(): ThreadHeaps {
  const last = new Map<number, number>()
  const heard = new BroadcastChannel(CHANNEL)
  heard.onmessage = event => {
    const { threadId, bytes } = said.parse(Reflect.get(Object(event), 'data'))
    last.set(threadId, bytes)
  }
  return {
    bytes: () => [...last.values()].reduce((sum, bytes) => sum + bytes, 0),
    close: () => heard.close(),
  }
}

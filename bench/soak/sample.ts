import { readdirSync, readFileSync } from 'node:fs'

/** What a process holds at one moment. */
export interface Sample {
  /** Rollouts that had ended. */
  readonly rollouts: number
  readonly atMs: number
  readonly rssBytes: number
  /** Without pages of files that it has mapped (the journal): the kernel takes those back as it likes. */
  readonly ownBytes: number
  /** The main thread's heap and buffers, after a collection where there can be one. */
  readonly heapBytes: number
  /** The same of all threads of rollouts together, as each of them last said. */
  readonly threadBytes: number
  readonly handles: number
  readonly descriptors: number
}

export function takeSample(rollouts: number, threadBytes: number): Sample {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return {
    rollouts,
    atMs: performance.now(),
    rssBytes: rss,
    ownBytes: readOwnBytes(),
    heapBytes: heapUsed + external,
    threadBytes,
    handles: process.getActiveResourcesInfo().length,
    descriptors: readdirSync('/proc/self/fd').length,
  }
}

function readOwnBytes(): number {
  const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(found?.[1] ?? 0) * 1_024
}

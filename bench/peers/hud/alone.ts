import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

type Locks = typeof import('fs-native-extensions')
const require = createRequire(import.meta.url)

const ASK_AGAIN_MS = 200

/** Runs `work` while no other process runs any with the same file. The lock is the system's, and ends with its process. */
export async function alone<Value>(
  file: string,
  { signal, longestMs }: { readonly signal: AbortSignal; readonly longestMs: number },
  work: () => Promise<Value>,
): Promise<Value> {
  const { tryLock, unlock }: Locks = require('fs-native-extensions')
  const descriptor = openSync(file, 'a')
  try {
    const late = performance.now() + longestMs
    while (!tryLock(descriptor, 0, 1)) {
      if (performance.now() > late) throw new Error(`somebody else has held ${file} for ${longestMs / 1_000} s`)
      await sleep(ASK_AGAIN_MS, undefined, { signal })
    }
    try {
      return await work()
    } finally {
      unlock(descriptor, 0, 1)
    }
  } finally {
    closeSync(descriptor)
  }
}

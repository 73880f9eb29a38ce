import { readFileSync } from 'node:fs'
import { childrenOf } from '../engine/proc-stat.ts'

const LOOK_MS = 100

/**
 * Looks at the memory of a process and of all its descendants until it is told to stop, and answers with the highest seen, in bytes;
 * what is shorter than the looks are apart may be missed. The same eyes for every side, in a process that is none of them.
 */
export function watchTree(pid: number): { stop(): number } {
  let peakBytes = 0
  const look = () => {
    peakBytes = Math.max(peakBytes, residentBytesOf(pid))
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      look()
      return peakBytes
    },
  }
}

/** The process and its descendants, parents first. Those that end meanwhile are left out. */
export function treeOf(pid: number): readonly number[] {
  return [pid, ...unlessGone(() => childrenOf(pid), []).flatMap(treeOf)]
}

/** Resident memory; pages that several processes share count once for each of them. */
function residentBytesOf(root: number): number {
  return treeOf(root).reduce((sum, pid) => {
    const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'utf8'), '')
    return sum + Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
  }, 0)
}

/** A process that has ended between being listed and being read is no error. */
function unlessGone<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read()
  } catch {
    return otherwise
  }
}

import { readFileSync } from 'node:fs'

/** Kernel clock ticks a second; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** CPU milliseconds, user and system, that a process has used so far. */
export function cpuMsOf(pid: number): number {
  const fields = statOf(pid)
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
}

/** The same of its children that have ended and for which it has waited, and of theirs. */
export function cpuMsOfEnded(pid: number): number {
  const fields = statOf(pid)
  return ((Number(fields[13]) + Number(fields[14])) * 1_000) / TICKS_PER_SECOND
}

function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command's name may hold spaces and brackets; the numbers begin after the last one.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

/** A process's own memory, without pages of files that it has mapped; 0 when it has ended. */
export function ownBytesOf(pid: number | 'self'): number {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    // It has ended since it was listed.
    return 0
  }
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
}

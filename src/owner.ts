import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** The process that holds something: a journal, a directory, a sandbox. */
export interface Owner {
  readonly pid: number
  /** When the process started, as its system counts it; a recycled pid has another. Null where the system does not tell. */
  readonly processStart: string | null
  /** Milliseconds since 1970. */
  readonly since: number
}

export function makeOwner(since: number): Owner {
  return { pid: process.pid, processStart: readProcessStart(process.pid), since }
}

/** False when the owner's process is gone, even if another has its pid by now. */
export function isAlive(owner: Owner): boolean {
  if (owner.processStart !== null) return readProcessStart(owner.pid) === owner.processStart
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    // A process of another user cannot be signalled, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * This process in one word, for labels that are read elsewhere: `HOST~PLACE~PID~TICKS`, where the place is the boot and the PID namespace
 * within which the pid means something.
 */
export function toOwnerWord(): string {
  const ticks = readProcessStart(process.pid)?.split('/')[1] ?? '0'
  return [hostname().replaceAll('~', '-'), readPlace() ?? 'unknown', process.pid, ticks].join('~')
}

/** Whether the process of an owner's word still runs; `elsewhere` where that cannot be told from here, and for what is no such word. */
export function judgeOwner(word: string): 'alive' | 'dead' | 'elsewhere' {
  const [, place, pid, ticks] = word.split('~')
  if (ticks === undefined || place === undefined || place !== readPlace()) return 'elsewhere'
  return readProcessStart(Number(pid))?.split('/')[1] === ticks ? 'alive' : 'dead'
}

/** Boot and PID namespace; undefined where there is no /proc, so that no process can be told dead. */
function readPlace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '').slice(0, 12)
    return `${boot}.${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    // Not a Linux /proc.
    return undefined
  }
}

/** Boot and start tick of a live process (proc(5): field 22 of `stat`), or null: no such process, or no /proc. */
function readProcessStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the program's name in brackets, which may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    if (state === 'Z' || state === 'X') return null
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    return `${boot}/${fields[19]}`
  } catch {
    // No /proc, or the process ended meanwhile: both mean that nothing can be told from here.
    return null
  }
}

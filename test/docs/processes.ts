import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface RunningProcess {
  readonly pid: number
  readonly command: string
}

/** Those that have this directory in their variables or arguments, or mounted. */
export function listRunning(directory: string): readonly RunningProcess[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter(pid => ['environ', 'cmdline', 'mountinfo'].some(file => read(pid, file).includes(directory)))
    .map(pid => ({ pid: Number(pid), command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
}

/** At once, if it is there. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function read(pid: string, file: string): string {
  try {
    // A zombie has ended: whoever started it has only not looked yet.
    readlinkSync(`/proc/${pid}/exe`)
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // It ended meanwhile, or is a kernel thread.
    return ''
  }
}

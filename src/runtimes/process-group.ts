import type { ChildProcess } from 'node:child_process'
import { type Clock, sleep } from '../clock.ts'
import { stillRunning } from './errors.ts'

/** Sends `signal` to the group that `pid` leads. False when there is no such group any more. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    // ESRCH: nothing of the group is left, which is what is wanted.
    return false
  }
}

/**
 * Ends a process that leads its own group: its stdin is closed and the group gets SIGTERM; what is left after `graceMs` gets SIGKILL, and so do
 * grandchildren that outlive it. Rejects with `process-still-running` if not even that ends it.
 */
export async function endGroup(
  child: ChildProcess,
  exited: Promise<unknown>,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  child.stdin?.destroy()
  signalGroup(pid, 'SIGTERM')
  if (!(await endsWithin(exited, clock, graceMs))) {
    signalGroup(pid, 'SIGKILL')
    if (!(await endsWithin(exited, clock, graceMs))) throw stillRunning(child.spawnfile, pid)
  }
  signalGroup(pid, 'SIGKILL')
}

async function endsWithin(exited: Promise<unknown>, clock: Clock, ms: number): Promise<boolean> {
  const controller = new AbortController()
  const ended = exited.then(() => true)
  const late = sleep(clock, ms, controller.signal).then(() => false)
  // Rejects once the timer is not needed any more.
  late.catch(() => undefined)
  try {
    return await Promise.race([ended, late])
  } finally {
    controller.abort()
  }
}

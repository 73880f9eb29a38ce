import type { ChildProcess } from 'node:child_process'
import { bounded } from '../bounded.ts'
import type { Clock } from '../clock.ts'
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
 * Ends a process that leads its own group: the group gets SIGTERM; what is left after `graceMs` gets SIGKILL, and so do
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
  signalGroup(pid, 'SIGTERM')
  const end = () => bounded(clock, graceMs, () => exited)
  // Not before: a leash sends SIGTERM when stdin closes, and told twice a host ends without removing its directories.
  const ended = await end()
  child.stdin?.destroy()
  if (ended.kind === 'late') {
    signalGroup(pid, 'SIGKILL')
    if ((await end()).kind === 'late') throw stillRunning(child.spawnfile, pid)
  }
  signalGroup(pid, 'SIGKILL')
}

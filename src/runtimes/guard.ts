import { spawn } from 'node:child_process'

/**
 * Waits until its own stdin closes, as it does however this process ends, and then ends the group `$1`: what was stopped goes on, so that it can end in
 * order, and what is there after `$2` seconds is killed. Where nothing of the group is left it ends at once, before its number can be another's.
 */
const SCRIPT = `
while read -r line; do :; done
kill -CONT "-$1" || exit 0
left=$2
while kill -0 "-$1"; do
  [ "$left" -gt 0 ] || { kill -KILL "-$1"; exit; }
  sleep 1
  left=$((left - 1))
done
`

/** For an orderly end: hooks and graders have their time, and directories are removed. */
const GRACE_SECONDS = 10

/** Somebody who survives this process. */
export interface Guard {
  /** Sends it away; resolves when it is gone. Twice is once. */
  dismiss(): Promise<void>
}

/**
 * Has the process group that `pid` leads ended after this process, also where its members cannot hear that they should: one was stopped, or its thread is stuck
 * in somebody's loop. Dismiss it when the group has ended.
 */
export function guardGroup(pid: number, graceSeconds: number = GRACE_SECONDS): Guard {
  // In a group of its own: a Ctrl-C that ends this process must not end it first.
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'guard', String(pid), String(graceSeconds)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  })
  const gone = new Promise<void>(resolve => {
    // It could not be started, or has ended: in both cases nobody is there.
    child.once('error', () => resolve()).once('close', () => resolve())
  })
  child.stdin.on('error', () => undefined)
  return {
    async dismiss() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

import { availableParallelism } from 'node:os'
import type { IsolationOptions } from '../workspace.ts'

type Limits = IsolationOptions['limits']

/** Enough for an interpreter and a test suite; one command cannot take the machine down. */
export const DEFAULT_LIMITS: Limits = {
  cpuSeconds: 60,
  memoryBytes: 1024 * 1024 * 1024,
  processes: 64,
  fileBytes: 64 * 1024 * 1024,
  diskBytes: 2 * 1024 * 1024 * 1024,
}

/** Commands at once by default. Most wait for their interpreter to load, so more than the cores keeps the cores busy. */
export const DEFAULT_MAX_COMMANDS = 4 * availableParallelism()

const OPEN_FILES = 1024

/**
 * `prlimit` in front of a command; every limit is hard. Memory is address space per process, and the size of files each one's own:
 * `watchUsage` keeps what they come to together, since there is no cgroup to rely on everywhere. `processes` counts what the
 * kernel counts for the user id in the user namespace where the limit was set.
 */
export function prlimitArgv(limits: Limits, countProcesses: boolean): readonly string[] {
  return [
    '/usr/bin/prlimit',
    '--core=0',
    `--cpu=${limits.cpuSeconds}:${limits.cpuSeconds + 1}`,
    `--as=${limits.memoryBytes}`,
    `--fsize=${limits.fileBytes}`,
    `--nofile=${OPEN_FILES}`,
    ...(countProcesses ? [`--nproc=${limits.processes}`] : []),
    '--',
  ]
}

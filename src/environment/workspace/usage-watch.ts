import { lstatSync, statfsSync } from 'node:fs'
import type { CancelTimer, Clock } from '../../clock.ts'
import type { IsolationOptions } from '../workspace.ts'
import { diskUsageOf } from './disk-usage.ts'
import { deletedBytes, familyOf, memoryOf } from './process-usage.ts'

/** A process as the watch needs it. */
export interface Watched {
  readonly pid: number
  readonly ended: Promise<unknown>
  killFor(why: string): void
}

/**
 * Holds the processes that work in one directory to its share of memory and disk together, where the kernel's own limits are
 * for each process and each file alone and cgroups are not to be had everywhere. It looks four times a second while something runs
 * and once afterwards, so a command that is over sooner costs one look, and what is taken between two looks comes on top of the limits.
 */
export interface UsageWatch {
  add(started: Watched): void
  /** Why nothing more may be started there; undefined while something may. Memory is free again once it was taken away; a disk is not. */
  full(): string | undefined
  close(): void
}

const LOOK_MS = 250
/** Whoever makes more of them is after the file system, not after a result. */
export const MAX_FILES = 200_000

type Limits = Pick<IsolationOptions['limits'], 'memoryBytes' | 'diskBytes'>

export function watchUsage(directory: string, { memoryBytes, diskBytes }: Limits, clock: Clock): UsageWatch {
  const running = new Set<Watched>()
  const device = lstatSync(directory).dev
  const freeAtFirst = freeBytes(directory)
  let cancel: CancelTimer | undefined
  let fullFor: string | undefined
  let isClosed = false

  function killAll(why: string): void {
    for (const started of running) started.killFor(why)
  }

  function lookLater(): void {
    if (!isClosed) cancel ??= clock.after(LOOK_MS, () => void look())
  }

  async function look(): Promise<void> {
    const pids = [...running].flatMap(({ pid }) => familyOf(pid))
    const memory = memoryOf(pids, memoryBytes)
    if (memory > memoryBytes)
      killAll(
        `ended: the commands of this workspace held ${mebibytes(memory)} of memory, more than the ${mebibytes(memoryBytes)} they may have together`,
      )
    await lookAtDisk(pids)
    // Only now, so that two looks never overlap.
    cancel = undefined
    if (running.size > 0) lookLater()
  }

  async function lookAtDisk(pids: readonly number[]): Promise<void> {
    const { bytes, files } = await diskUsageOf(directory, { bytes: diskBytes, files: MAX_FILES })
    if (isClosed) return
    // Looked for only when they may be there: a process can have many descriptors.
    const hidden = freeAtFirst - freeBytes(directory) > diskBytes / 2 ? deletedBytes(pids, device) : 0
    if (bytes + hidden <= diskBytes && files <= MAX_FILES) return
    fullFor = `the workspace holds more than the ${mebibytes(diskBytes)} or ${MAX_FILES} files that it may`
    killAll(`ended: ${fullFor}`)
  }

  return {
    add(started) {
      running.add(started)
      const forget = () => running.delete(started)
      started.ended.then(forget, forget)
      lookLater()
    },
    full: () => fullFor,
    close() {
      isClosed = true
      cancel?.()
    },
  }
}

/** 0 once the directory is gone. */
function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return 0
  }
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

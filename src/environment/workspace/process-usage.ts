import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

/** A process and all that it started, however far down. What ends meanwhile is left out. */
export function familyOf(pid: number): readonly number[] {
  const found = [pid]
  // Grows while it is walked. A process that lost its parent is a child of its sandbox's first process.
  for (const each of found) {
    for (const thread of list(`/proc/${each}/task`))
      for (const child of read(`/proc/${each}/task/${thread}/children`).split(' '))
        if (child !== '') found.push(Number(child))
  }
  return found
}

/**
 * Bytes of memory that the processes hold. Pages that several of them share count for each, as long as the sum stays below
 * `limit`; above it the kernel is asked for each one's part, which costs it more.
 */
export function memoryOf(pids: readonly number[], limit: number): number {
  const resident = sum(pids.map(pid => kilobytes(pid, 'status', 'VmRSS') ?? 0))
  if (resident <= limit) return resident
  return sum(pids.map(pid => kilobytes(pid, 'smaps_rollup', 'Pss') ?? kilobytes(pid, 'status', 'VmRSS') ?? 0))
}

/** Bytes on a device in files that have been deleted while the processes hold them open: no directory tells of them. */
export function deletedBytes(pids: readonly number[], device: number): number {
  const sizes = new Map<number, number>()
  for (const pid of pids) {
    for (const descriptor of list(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${descriptor}`
      try {
        if (!readlinkSync(path).endsWith(' (deleted)')) continue
        const { dev, ino, blocks } = statSync(path)
        if (dev === device) sizes.set(ino, blocks * 512)
      } catch {
        // closed between the listing and now
      }
    }
  }
  return sum([...sizes.values()])
}

function kilobytes(pid: number, file: string, field: string): number | undefined {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/${file}`))
  return found === null ? undefined : Number(found[1]) * 1024
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return '' // it has ended, or is not ours to read
  }
}

function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // as above
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

import { execFile } from 'node:child_process'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

export interface DiskUsage {
  /** What its files take up on the disk. */
  readonly bytes: number
  /** Files, directories and links. */
  readonly files: number
}

/**
 * What a directory holds, counted until it is more than `most`. Links are not followed. What its owner may not read is seen only by
 * a host that is root.
 */
export async function diskUsageOf(directory: string, most: DiskUsage): Promise<DiskUsage> {
  const waiting = [directory]
  let [bytes, files] = [0, 0]
  for (const each of waiting) {
    const entries = await opendir(each).catch(unlessTooLong)
    if (entries === 'too long') return deepUsageOf(directory)
    if (entries === undefined) continue
    for await (const entry of entries) {
      const path = join(each, entry.name)
      const stats = await lstat(path).catch(unlessTooLong)
      if (stats === 'too long') return deepUsageOf(directory)
      if (stats === undefined) continue
      files += 1
      bytes += stats.blocks * 512
      if (bytes > most.bytes || files > most.files) return { bytes, files }
      if (entry.isDirectory()) waiting.push(path)
    }
  }
  return { bytes, files }
}

/** Anything else means that it was removed between the listing and now, or is closed to this host. */
function unlessTooLong(error: unknown): 'too long' | undefined {
  return error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG' ? 'too long' : undefined
}

/** A tree nested deeper than a path can be long is left to coreutils, which walk it by descriptors. */
async function deepUsageOf(directory: string): Promise<DiskUsage> {
  const [bytes, files] = await Promise.all([total(['-s', '-B1', directory]), total(['-s', '--inodes', directory])])
  return { bytes, files }
}

const DU_MS = 10_000

/** More than anything where `du` comes to no end. */
function total(args: readonly string[]): Promise<number> {
  return new Promise(resolve => {
    execFile('/usr/bin/du', args, { timeout: DU_MS, env: {} }, (_, stdout) => {
      const found = /^\d+/.exec(stdout)
      resolve(found === null ? Number.POSITIVE_INFINITY : Number(found[0]))
    })
  })
}

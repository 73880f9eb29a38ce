import { readFileSync } from 'node:fs'

/**
 * Open files that one sandbox takes in the process that has most. Measured with 8 to 256 at once: 4.6 with Daytona's client, 4.6 with a process
 * each, and none for workspaces of one host, whose rollouts share a connection and where each command takes pipes. With room to spare.
 */
const PER_SANDBOX: Readonly<Record<string, number>> = { local: 3, url: 2, subprocess: 6, daytona: 6 }
const OTHERWISE = 6
/** What a process has open anyway: 278 while it loads its modules. */
const ANYWAY = 384

export interface OpenFilesLack {
  readonly needed: number
  readonly limit: number
  /** So many sandboxes the limit can hold. */
  readonly fits: number
}

/** What so many sandboxes at once would need, where a process may not have it. Nothing lacks where the system does not tell. */
export function lackOfOpenFiles(
  sandboxes: number,
  runtime: string,
  limit: number = readLimit(),
): OpenFilesLack | undefined {
  const each = PER_SANDBOX[runtime] ?? OTHERWISE
  const needed = ANYWAY + each * sandboxes
  return needed > limit ? { needed, limit, fits: Math.max(0, Math.floor((limit - ANYWAY) / each)) } : undefined
}

/** What the kernel lets this process, and those that it starts, have open at once. Node has raised it to what it may be at most. */
function readLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY // no such file on this system
  }
}

import { readFileSync } from 'node:fs'
import { tooManyDescriptors } from './errors.ts'

/** Open files that one sandbox needs in the process that needs most, measured at 256 wide and rounded up; and what a process has open anyway, while it loads its modules. */
const PER_SANDBOX: Readonly<Record<string, number>> = { local: 3, url: 2, subprocess: 6, daytona: 6 }
const EMULATED = 10
const ANYWAY = 384

/** Throws `ladder-descriptors` where the widest level needs more open files than a process may have. Nothing is known where the system does not tell. */
export function checkDescriptors(
  widths: readonly number[],
  runtime: string,
  isEmulated: boolean,
  limit: number = readLimit(),
): void {
  const each = isEmulated ? EMULATED : (PER_SANDBOX[runtime] ?? EMULATED)
  const widest = Math.max(...widths)
  const needed = ANYWAY + each * widest
  if (needed > limit) throw tooManyDescriptors(widest, needed, limit, Math.max(0, Math.floor((limit - ANYWAY) / each)))
}

/** What the kernel lets this process, and those that it starts, have open at once. */
function readLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY // no such file on this system
  }
}

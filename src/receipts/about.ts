import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { readVersion } from '../version.ts'

/**
 * What a receipt says of the machine and the moment: `made` (ISO 8601), `troupe`, `node`, `machine` (cores, model, memory, system) and `load` (of the last minute). Neither
 * who or where it was: no host, no user, no path, and nothing of the process's environment.
 */
export function aboutMachine(now: Date = new Date()): Record<string, string> {
  return {
    made: now.toISOString(),
    troupe: readVersion(),
    node: process.version,
    machine: `${availableParallelism()} × ${cpus()[0]?.model.trim() || 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`,
    load: (loadavg()[0] ?? 0).toFixed(2),
  }
}

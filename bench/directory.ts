import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/clock.ts'
import { markOwned, removeAbandoned } from '../src/environment/owned-directory.ts'

const PREFIX = 'troupe-bench-'

/** A temporary directory for one measurement. What a benchmark left that was killed goes when the next one starts. */
export async function makeBenchDirectory(): Promise<{ readonly directory: string; readonly remove: () => void }> {
  await removeAbandoned(tmpdir(), PREFIX)
  const directory = mkdtempSync(join(tmpdir(), PREFIX))
  markOwned(directory, systemClock.wallTime())
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

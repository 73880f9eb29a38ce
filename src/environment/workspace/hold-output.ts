import { PassThrough, pipeline } from 'node:stream'
import type { RunningProcess } from './process.ts'

/**
 * The same process, with what it puts out kept until somebody reads it. Node reads away what an ended process has left in its pipe where nobody reads it
 * yet, so that what a short-lived one said would be gone before whoever it was for is there. Back-pressure stays: some tens of kilobytes are kept.
 */
export function holdOutput(process: RunningProcess): RunningProcess {
  const stdout = new PassThrough()
  pipeline(process.stdout, stdout, () => {}) // an output that breaks ends, as it does without this
  return { ...process, stdout }
}

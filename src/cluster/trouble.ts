import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'
import type { JobId } from '../ids.ts'
import { publish } from '../telemetry/channels.ts'
import { ofJob } from '../telemetry/observed.ts'
import { natsTrouble } from './errors.ts'

/** What is wrong with the cluster, for whoever listens. */
export interface Trouble {
  readonly tell: (error: unknown) => void
}

/** Remembered, so that what happens again and again is said once. */
const MOST_TOLD = 256

/** Tells each thing once, on the channel `cluster`. */
export function makeTrouble(jobId: JobId | undefined): Trouble {
  const told = new Set<string>()
  return {
    tell(thrown) {
      const error = isData(thrown) ? thrown : toErrorData(thrown instanceof TroupeError ? thrown : natsTrouble(thrown))
      if (told.has(error.message) || told.size >= MOST_TOLD) return
      told.add(error.message)
      publish('cluster', ofJob(jobId, error))
    },
  }
}

function isData(value: unknown): value is ErrorData {
  return (
    typeof value === 'object' && value !== null && !(value instanceof Error) && 'tag' in value && 'message' in value
  )
}

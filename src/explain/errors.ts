import { TroupeError } from '../errors.ts'
import type { JobId } from '../ids.ts'

export function nothingToExplain(jobId: JobId): TroupeError {
  return new TroupeError({
    tag: 'nothing-to-explain',
    address: jobId,
    message: `no run of ${jobId} has ended, so there is no time to account for. Try again when one has; \`troupe runs\` shows what the journal holds.`,
  })
}

export function unknownStep(jobId: JobId, asked: string, known: readonly string[]): TroupeError {
  const shown = known.length <= 12 ? known : [...known.slice(0, 6), '…', ...known.slice(-5)]
  return new TroupeError({
    tag: 'unknown-step',
    address: jobId,
    message: `${jobId} has no step "${asked}". Say one of: ${shown.join(', ')}.`,
    details: { asked, known },
  })
}

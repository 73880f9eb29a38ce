import { TroupeError } from '../../errors.ts'

export function notAReceipt(path: string, problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'not-a-receipt',
    address: path,
    message: `${path} is no receipt of a training: ${problems.slice(0, 4).join('; ')}${problems.length > 4 ? '; …' : ''}. \`troupe train\` writes one; name that, or move this file away.`,
    details: { problems },
  })
}

export function receiptNotWritten(path: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'receipt-not-written',
      address: path,
      message: `${path} could not be written. Make room or choose another directory with --out DIR and run the same command again: it goes on, and the receipt is made from what the journal holds.`,
    },
    cause,
  )
}

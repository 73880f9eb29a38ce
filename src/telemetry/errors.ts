/** What can go wrong with metrics, event files and traces, in words. */
import { TroupeError } from '../errors.ts'

export function metricsPortTaken(address: string, cause: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'metrics-port-taken',
      address,
      message: `${address} is in use, so no metrics can be served there. Choose another with --metrics PORT, or 0 for any that is free.`,
    },
    cause,
  )
}

export function metricsNotServed(address: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'metrics-not-served',
      address,
      message: `metrics cannot be served on ${address}: ${why}. Give an address of this machine with --metrics HOST:PORT, or a port alone for loopback.`,
    },
    cause,
  )
}

export function eventsNotWritable(path: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'events-not-writable',
      address: path,
      message: `events cannot be written to ${path}: ${why}. Name a file in a directory that is there with --events FILE.`,
    },
    cause,
  )
}

export function eventsNotAFile(path: string): TroupeError {
  return new TroupeError({
    tag: 'events-not-a-file',
    address: path,
    message: `${path} is no regular file, and events are appended to one. Name another with --events FILE.`,
  })
}

export function eventsNotWritten(path: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TroupeError(
    {
      tag: 'events-not-written',
      address: path,
      message: `events could not be written to ${path}: ${why}. The job goes on without them; a line in the file says how many are missing once it can be written again.`,
    },
    cause,
  )
}

export function eventsLate(path: string, waitedMs: number, missing: number): TroupeError {
  return new TroupeError({
    tag: 'events-late',
    address: path,
    message: `the last ${missing} events were not written to ${path} within ${waitedMs / 1_000} s, and are missing there. Check the disk that it is on.`,
    details: { missing },
  })
}

export function badTracesUrl(why: string): TroupeError {
  return new TroupeError({
    tag: 'bad-traces-url',
    message: `traces cannot be sent there: ${why}. Name a receiver of OTLP over HTTP, such as http://127.0.0.1:4318.`,
  })
}

export function badTracesOption(why: string): TroupeError {
  return new TroupeError({ tag: 'bad-traces-option', message: `no traces can be drawn: ${why}.` })
}

export function tracesNotSent(url: string, cause: unknown): TroupeError {
  const why = (cause instanceof Error && cause.message) || codeOf(cause) || String(cause)
  return new TroupeError(
    {
      tag: 'traces-not-sent',
      address: url,
      message: `traces could not be sent to ${url}: ${why}. Nothing waits for them; what is drawn from now on is tried all the same. Check that a receiver of OTLP over HTTP listens there.`,
    },
    cause,
  )
}

/** Several addresses that all refused make an error without words. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

import { TroupeError } from '../errors.ts'

const NAMES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  409: 'Conflict',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** An answer in the provider's own shape: `details` has `statusCode`, and `error` as its name. */
export const refused = (statusCode: number, message: string): TroupeError =>
  new TroupeError({
    tag: 'emulator-refused',
    message,
    details: { statusCode, error: NAMES[statusCode] ?? 'Error' },
  })

/** The status that an error is answered with: what `refused` says, the framework's own, or 500. */
export function toStatus(thrown: unknown): number {
  const status = thrown instanceof TroupeError ? thrown.data.details?.statusCode : statusOf(thrown)
  return typeof status === 'number' ? status : 500
}

export const toErrorName = (status: number): string => NAMES[status] ?? 'Error'

export const emulatorClosed = (): TroupeError =>
  new TroupeError({
    tag: 'emulator-closed',
    message: 'the emulator is closing',
    details: { statusCode: 503, error: 'Service Unavailable' },
  })

export const portTaken = (port: number, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'emulator-port-taken',
      message: `port ${port} of 127.0.0.1 is taken; choose another with --port, or 0 for any`,
      address: `127.0.0.1:${port}`,
    },
    cause,
  )

export const badFault = (text: string, kinds: readonly string[]): TroupeError =>
  new TroupeError({
    tag: 'emulator-bad-fault',
    message: `"${text}" is no fault; write KIND=SHARE, for instance reset-create=0.01, with one of: ${kinds.join(', ')}`,
  })

function statusOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined
}

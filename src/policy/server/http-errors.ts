import type { ErrorData } from '../../errors.ts'

const STATUS: Readonly<Record<string, number>> = {
  'bad-request': 400,
  'unknown-loss': 400,
  'unsupported-parameter': 400,
  'context-length-exceeded': 400,
  'unknown-model': 404,
  'unknown-checkpoint': 404,

  'unknown-route': 404,
  'nothing-accumulated': 409,
  'already-counted': 409,
  'mixed-substeps': 409,
  'unknown-forward': 409,
  'model-exists': 409,
  'checkpoint-forgotten': 410,
  'body-too-large': 413,
  'unsupported-media-type': 415,
  'loss-not-finite': 422,
  'queue-full': 429,
  'sampler-full': 429,
  'sampling-cancelled': 499,
  'server-closing': 503,
  'policy-thread-lost': 503,
  'sampling-timeout': 504,
}

export function toStatus({ tag }: ErrorData): number {
  return STATUS[tag] ?? 500
}

/** The shape that OpenAI's clients read, and beside it `detail`, where clients of training services look. */
export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
  readonly detail: string
}

export function toErrorBody({ tag, message, details }: ErrorData, status: number): ErrorBody {
  const param = typeof details?.param === 'string' && details.param !== '' ? details.param : null
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, param, code: CODES[tag] ?? tag.replaceAll('-', '_') }, detail: message }
}

/** Where OpenAI has a code of its own for it. */
const CODES: Readonly<Record<string, string>> = {
  'unknown-model': 'model_not_found',
  'queue-full': 'rate_limit_exceeded',
}

/** Seconds for the header, where a caller is to come again. */
export function toRetryAfter({ details }: ErrorData, status: number): number | undefined {
  if (status !== 429) return undefined
  return typeof details?.retryAfterSeconds === 'number' ? details.retryAfterSeconds : 1
}

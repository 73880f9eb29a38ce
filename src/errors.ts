/**
 * Errors as tagged data. An error that crosses a thread or a process loses its class and its fields, so what travels is
 * `ErrorData`; `TroupeError` is the same thing in the shape that `throw` wants.
 */
export interface ErrorData {
  /** The kind, in kebab case and unique in the project: `frame-too-large`, `unknown-template`. Programs switch on it. */
  readonly tag: string
  /** What happened and what to do next, for a person. Built in the one file that owns the subject. */
  readonly message: string
  /** What it concerns: an actor's address, a `host:port`, a `file:line`. */
  readonly address?: string
  /** Details for programs: plain data only. */
  readonly details?: Readonly<Record<string, unknown>>
  /** True only where the same call may succeed if made again with a fresh sandbox; absent means no. */
  readonly transient?: boolean
  readonly cause?: ErrorData
}

/** What this library throws and rejects with: `ErrorData` in the shape of an `Error`. Its `data` survives threads, processes and JSON. */
export class TroupeError extends Error {
  override readonly name = 'TroupeError'
  readonly data: ErrorData

  constructor(data: ErrorData, cause?: unknown) {
    super(data.message, cause === undefined ? undefined : { cause })
    this.data = cause === undefined ? data : { ...data, cause: toErrorData(cause) }
  }

  get tag(): string {
    return this.data.tag
  }
}

/** Any thrown value as data. A foreign error gets the tag `unexpected`, or its `code` in lower case where it has one. */
export function toErrorData(thrown: unknown): ErrorData {
  if (thrown instanceof TroupeError) return thrown.data
  if (thrown instanceof Error) {
    const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
    return {
      tag: code === undefined ? 'unexpected' : code.toLowerCase().replaceAll('_', '-'),
      message: thrown.message === '' ? thrown.name : thrown.message,
      ...(thrown.cause === undefined ? {} : { cause: toErrorData(thrown.cause) }),
    }
  }
  return { tag: 'unexpected', message: String(thrown) }
}

/** The error that `data` describes, ready to be thrown on this side. */
export function fromErrorData(data: ErrorData): TroupeError {
  return new TroupeError(data)
}

/** Whether it is a `TroupeError` of that kind: `hasTag(error, 'run-cancelled')`. */
export function hasTag(thrown: unknown, tag: string): thrown is TroupeError {
  return thrown instanceof TroupeError && thrown.tag === tag
}

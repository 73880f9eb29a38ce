import type { ErrorData } from '../errors.ts'
import type { ListenAddress } from '../wire/address.ts'

/** One line of a serving process, as far as it means something to us. */
export type ServeLine =
  | { readonly type: 'served'; readonly address: ListenAddress }
  | { readonly type: 'failed'; readonly error: ErrorData }
  | { readonly type: 'other' }

const port = /^HUD_SERVE_PORT=(\d{1,5})$/
const socket = /^TROUPE_SERVE_SOCKET=(\/.+)$/
const failure = /^TROUPE_SERVE_ERROR=(\{.*\})$/

/** `HUD_SERVE_PORT=<port>` on this machine's loopback, `TROUPE_SERVE_SOCKET=<path>`, or our own host's `TROUPE_SERVE_ERROR=<json>`. */
export function parseServeLine(line: string): ServeLine {
  const text = line.trim()
  const number = port.exec(text)?.[1]
  if (number !== undefined) return { type: 'served', address: { kind: 'tcp', host: '127.0.0.1', port: Number(number) } }
  const path = socket.exec(text)?.[1]
  if (path !== undefined) return { type: 'served', address: { kind: 'unix', path } }
  const json = failure.exec(text)?.[1]
  const error = json === undefined ? undefined : parseError(json)
  return error === undefined ? { type: 'other' } : { type: 'failed', error }
}

function parseError(json: string): ErrorData | undefined {
  try {
    const error: unknown = JSON.parse(json)
    return isErrorData(error) ? error : undefined
  } catch {
    // A line that only looks like ours is a line like any other.
    return undefined
  }
}

function isErrorData(value: unknown): value is ErrorData {
  if (typeof value !== 'object' || value === null || !('tag' in value && 'message' in value)) return false
  return typeof value.tag === 'string' && typeof value.message === 'string'
}

import type { ProcessApi } from '@daytona/toolbox-api-client'
import { WebSocket } from 'ws'

/** What a command writes, as it comes. */
export interface CommandLog {
  /** The last bytes so far, of both streams, as text. */
  tail(): string
  /** Resolves when there is nothing more to come: the command has ended, or the log cannot be followed. */
  readonly ended: Promise<void>
  close(): void
}

/** Before each piece of output the provider puts three bytes that say of which stream it is: of value 1 or 2, which texts do not have. */
const MARKS: readonly number[] = [1, 2]
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const UPGRADE_MS = 10_000
type CallOptions = NonNullable<Parameters<ProcessApi['getSessionCommandLogs']>[3]>

/**
 * Follows a command's output over the provider's WebSocket. The generated client knows where that is and what to send along, but not WebSockets; so the call
 * is its own, and only what carries it is another. Failing to is no error: `ended` resolves.
 */
export function followLog(
  processes: ProcessApi,
  ids: { readonly sessionId: string; readonly commandId: string },
  options: { readonly keepBytes: number; readonly onText: (tail: string) => void },
): CommandLog {
  let kept = Buffer.alloc(0)
  let socket: WebSocket | undefined
  let closed = false
  const tail = () => kept.toString('utf8')

  function take(data: unknown): void {
    if (!(data instanceof Buffer)) return
    const text = data.filter(byte => !MARKS.includes(byte))
    kept = Buffer.concat([kept, text]).subarray(-options.keepBytes)
    options.onText(tail())
  }

  function follow(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    return new Promise(resolve => {
      if (closed) return resolve()
      socket = new WebSocket(url.replace(/^http/, 'ws'), {
        headers,
        handshakeTimeout: UPGRADE_MS,
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE_BYTES,
        skipUTF8Validation: true,
      })
      socket.on('message', take)
      socket.on('error', () => {}) // `close` follows
      socket.once('close', () => resolve())
    })
  }

  const adapter: CallOptions['adapter'] = async config => {
    const headers = Object.entries({ ...config.headers }).filter(([, value]) => typeof value === 'string')
    await follow(config.url ?? '', Object.fromEntries(headers))
    return { data: undefined, status: 200, statusText: '', headers: {}, config }
  }
  const ended = processes.getSessionCommandLogs(ids.sessionId, ids.commandId, true, { adapter }).then(
    () => undefined,
    () => undefined, // nothing can be followed, which is looked at by request then
  )
  return {
    tail,
    ended,
    close() {
      closed = true
      socket?.terminate()
    },
  }
}

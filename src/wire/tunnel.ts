import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import { hasTag } from '../errors.ts'
import type { Address } from './address.ts'
import { dial } from './dial.ts'
import { protocolError, remoteError, tunnelFailed } from './errors.ts'
import { METHOD, withToken } from './extension.ts'
import { describeProblem, FrameReader, type ReadFrame } from './frame.ts'
import { parseReply, requestText } from './json-rpc.ts'
import { Limit } from './limit.ts'

/** Of the one reply that comes before the bytes: a name, or the text of an error. */
const PREFACE_BYTES = 64 * 1024

const OPEN_MS = 10_000

/**
 * A raw stream to a capability. Over TCP half-open is allowed: what is written after the other end has ended still arrives. Over a WebSocket an end
 * ends both directions (see `WebSocketStream`). The caller destroys it. Rejects with `remote-error` when the peer refuses, `tunnel-failed` when it is
 * gone or takes longer than 10 s, `token-refused` when it or its proxy wants another token, or with the signal's reason.
 */
export async function openTunnel(
  address: Address,
  capability: string,
  options: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<Duplex> {
  const late = () => tunnelFailed(address, capability, new Error(`no answer within ${OPEN_MS} ms.`))
  const limit = new Limit(options.clock, OPEN_MS, options.signal, late)
  try {
    const socket = await dial(address, limit).catch((error: unknown) => {
      if (options.signal?.aborted) throw options.signal.reason
      throw hasTag(error, 'token-refused') ? error : tunnelFailed(address, capability, error)
    })
    socket.write(requestText(1, METHOD.tunnel, withToken({ capability }, address.token), 0))
    const frame = await limit.race(readPreface(socket), () => socket.destroy())
    try {
      acceptPreface(address, capability, frame)
      options.signal?.throwIfAborted()
    } catch (error) {
      socket.on('error', ignoreRefused).destroy()
      throw error
    }
    return socket
  } finally {
    limit.release()
  }
}

function acceptPreface(address: Address, capability: string, read: ReadFrame | undefined): void {
  if (read === undefined)
    throw tunnelFailed(address, capability, new Error('the peer closed the connection without an answer.'))
  if (read.kind === 'problem') throw protocolError(address, describeProblem(read.problem))
  const reply = parseReply(read.message)
  if (reply === undefined) throw protocolError(address, 'its answer to tunnel.open is neither a result nor an error')
  if ('error' in reply) throw remoteError(address, METHOD.tunnel, reply.error)
  if (reply.id !== 1) throw protocolError(address, 'it answered tunnel.open with another id')
}

/**
 * The one frame before the bytes, which stay in the socket; undefined when the peer hangs up first. Reads by `readable`, so that the stream is handed
 * over neither flowing nor paused.
 */
function readPreface(socket: Duplex): Promise<ReadFrame | undefined> {
  const reader = new FrameReader(PREFACE_BYTES)
  return new Promise(resolve => {
    const finish = (read: ReadFrame | undefined) => {
      socket.off('readable', onReadable).off('end', onGone).off('close', onGone).off('error', onGone)
      resolve(read)
    }
    const onGone = () => finish(undefined)
    const onReadable = () => {
      for (let chunk: unknown = socket.read(); chunk !== null; chunk = socket.read()) {
        if (!(chunk instanceof Buffer)) continue
        reader.push(chunk)
        const read = reader.next()
        if (read === undefined) continue
        const rest = reader.rest()
        if (rest.length > 0) socket.unshift(rest)
        finish(read)
        return
      }
    }
    socket.on('readable', onReadable).on('end', onGone).on('close', onGone).on('error', onGone)
  })
}

/** The caller has been told why; the socket is on its way out. */
function ignoreRefused(): void {}

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { hasTag } from '../errors.ts'
import { errorText, RPC, RpcRefusal, type RpcRequest, resultText } from '../wire/json-rpc.ts'
import { splice } from '../wire/splice.ts'
import type { ServedEnvironment } from './served.ts'
import { refuse, toRefusal } from './server-errors.ts'

/** Turns a connection whose first frame was `tunnel.open` into a raw stream to a capability. What came past the frame is in the socket. */
export async function serveTunnel(environment: ServedEnvironment, socket: Duplex, request: RpcRequest): Promise<void> {
  socket.on('error', endsTheStream)
  let backend: Duplex
  const name = request.params.capability
  try {
    if (typeof name !== 'string') throw refuse.capabilityNotText()
    backend = await environment.connectCapability(name)
  } catch (error) {
    const { code, message } = toTunnelRefusal(error)
    if (request.id !== undefined) socket.write(errorText(request.id, code, message))
    socket.end()
    socket.resume()
    return
  }
  if (socket.destroyed) {
    backend.on('error', endsTheStream).destroy()
    return
  }
  if (backend instanceof Socket) backend.setNoDelay(true)
  if (request.id !== undefined) socket.write(resultText(request.id, { capability: name }))
  splice(socket, backend)
}

function toTunnelRefusal(thrown: unknown): RpcRefusal {
  return hasTag(thrown, 'unknown-capability') ? new RpcRefusal(RPC.invalidParams, thrown.message) : toRefusal(thrown)
}

/** A reset is a normal way for a tunnelled stream to end; `close` follows and takes the other side with it. */
function endsTheStream(): void {}

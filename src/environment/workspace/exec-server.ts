import type { Duplex } from 'node:stream'
import type { Clock } from '../../clock.ts'
import { TroupeError, toErrorData } from '../../errors.ts'
import { frameNotRead, tokenRefused } from '../../wire/exec-errors.ts'
import {
  encodeCredit,
  encodeFrame,
  encodeJsonFrame,
  type Frame,
  FrameType,
  MAX_CHANNELS,
  makeFrameReader,
} from '../../wire/exec-frames.ts'
import { parseFile, parseHello, parseStart } from '../../wire/exec-messages.ts'
import type { SessionTracer } from '../session-tracer.ts'
import { tooManyAtOnce } from './errors.ts'
import { runExecCommand } from './exec-command.ts'
import { type ExecInput, makeExecInput } from './exec-input.ts'
import type { WorkspaceSession } from './session.ts'

const HELLO_MS = 10_000

/** The server's side of one channel's output. */
export interface ExecReply {
  /** False: wait for `drained` before more is read. */
  send(type: FrameType, payload?: Uint8Array): boolean
  sendJson(type: FrameType, message: unknown): void
  drained(): Promise<void>
}

interface Channel {
  readonly input: ExecInput
  readonly abort: AbortController
}

/**
 * Serves `exec/1` on a stream until the stream or the session ends; then every command of the stream is killed. The first
 * frame must be a `hello` with a session's token, within 10 s.
 */
export function serveExec(
  stream: Duplex,
  findSession: (token: string) => WorkspaceSession | undefined,
  { clock, tracer }: { readonly clock: Clock; readonly tracer?: SessionTracer | undefined },
): void {
  const readFrames = makeFrameReader()
  const channels = new Map<number, Channel>()
  let session: WorkspaceSession | undefined
  let traceparent: string | undefined
  let offClose = () => {}
  let drained: Promise<void> | undefined
  const cancelHello = clock.after(HELLO_MS, () => end(tokenRefused()))

  function write(frame: Buffer): boolean {
    return stream.writable ? stream.write(frame) : true
  }

  /** Tells the peer why, and ends the stream. */
  function end(reason: TroupeError): void {
    if (stream.writable) stream.end(encodeJsonFrame(FrameType.failure, 0, reason.data))
    stream.resume()
    release()
  }

  function release(): void {
    cancelHello()
    offClose()
    for (const { abort } of channels.values()) abort.abort()
    channels.clear()
  }

  function replyOn(channel: number): ExecReply {
    return {
      send: (type, payload) => write(encodeFrame(type, channel, payload)),
      sendJson: (type, message) => void write(encodeJsonFrame(type, channel, message)),
      drained() {
        if (!stream.writableNeedDrain) return Promise.resolve()
        drained ??= new Promise(resolve => {
          const settle = () => {
            drained = undefined
            stream.off('drain', settle).off('close', settle)
            resolve()
          }
          stream.once('drain', settle).once('close', settle)
        })
        return drained
      },
    }
  }

  function open(frame: Frame, work: (channel: Channel, reply: ExecReply) => Promise<unknown>): void {
    const { channel: id } = frame
    if (id === 0 || channels.has(id)) throw frameNotRead('first', `channel ${id} is taken`)
    const reply = replyOn(id)
    if (channels.size >= MAX_CHANNELS) {
      reply.sendJson(FrameType.failure, tooManyAtOnce('channels of this stream', MAX_CHANNELS).data)
      return
    }
    const channel = { input: makeExecInput(bytes => write(encodeCredit(id, bytes))), abort: new AbortController() }
    channels.set(id, channel)
    work(channel, reply)
      .catch(error => reply.sendJson(FrameType.failure, toErrorData(error)))
      .finally(() => channels.delete(id))
  }

  function receive(frame: Frame, current: WorkspaceSession): void {
    const channel = channels.get(frame.channel)
    switch (frame.type) {
      case FrameType.start: {
        const message = parseStart(frame.payload)
        open(frame, ({ input, abort }, reply) =>
          drawCommand(() => runExecCommand(current, message, input, reply, abort.signal, clock)),
        )
        break
      }
      case FrameType.read: {
        const { path } = parseFile(frame.payload)
        open(frame, async (_, reply) => sendFile(current.files.read(path), reply))
        break
      }
      case FrameType.write: {
        const { path } = parseFile(frame.payload)
        open(frame, async ({ input, abort }, reply) => {
          const content = await input.all(current.maxFileBytes, abort.signal)
          current.files.write(path, content)
          reply.send(FrameType.done)
        })
        break
      }
      // A channel may have ended while these were under way: they then concern nobody.
      case FrameType.input:
        channel?.input.push(frame.payload)
        break
      case FrameType.inputEnd:
        channel?.input.end()
        break
      case FrameType.kill:
        channel?.abort.abort()
        break
      default:
        throw frameNotRead('unknown', `type ${frame.type}`)
    }
  }

  /** The command itself is not said: what is in it is the agent's own. */
  function drawCommand(work: () => Promise<number>): Promise<number> {
    if (tracer === undefined) return work()
    return tracer.draw({ traceparent, name: 'exec', attributes: {} }, work, exit => ({ 'process.exit.code': exit }))
  }

  function greet(frame: Frame): WorkspaceSession {
    const hello = frame.type === FrameType.hello ? parseHello(frame.payload) : undefined
    const found = hello === undefined ? undefined : findSession(hello.token)
    traceparent = hello?.traceparent
    if (found === undefined) throw tokenRefused()
    cancelHello()
    offClose = found.onClose(() => stream.destroy())
    return found
  }

  stream.on('data', (chunk: Buffer) => {
    if (!stream.writable) return
    try {
      for (const frame of readFrames(chunk)) {
        if (session === undefined) session = greet(frame)
        else receive(frame, session)
      }
    } catch (error) {
      end(error instanceof TroupeError ? error : new TroupeError(toErrorData(error)))
    }
  })
  stream.on('error', () => {}) // a broken connection is followed by `close`, and that is what counts
  stream.once('end', () => stream.end())
  stream.once('close', release)
}

const FILE_FRAME_BYTES = 256 * 1024

async function sendFile(content: Buffer, reply: ExecReply): Promise<void> {
  for (let at = 0; at < content.length; at += FILE_FRAME_BYTES) {
    if (!reply.send(FrameType.stdout, content.subarray(at, at + FILE_FRAME_BYTES))) await reply.drained()
  }
  reply.send(FrameType.done)
}

import { TroupeError } from '../errors.ts'
import { fileNotReadOverWire, fileNotWrittenOverWire } from './exec-errors.ts'
import { CHUNK_BYTES, FrameType, INPUT_WINDOW_BYTES } from './exec-frames.ts'
import { parseCredit, parseExit, parseFailure, type StartMessage } from './exec-messages.ts'
import { DEFAULT_MAX_OUTPUT_BYTES, makeBoundedOutput } from './exec-output.ts'
import type { CommandOptions, CommandResult } from './shell.ts'

/** The client's side of one channel of an `exec/1` stream. */
export interface ExecChannel {
  send(type: FrameType, payload?: Uint8Array): void
  /** Sends the first frames; the channel is registered by then. */
  begin(): void
  /** Says `ended` after the channel's last frame. */
  receive(type: number, payload: Buffer): 'open' | 'ended'
  fail(reason: TroupeError): void
}

interface Opened<T> {
  readonly channel: ExecChannel
  readonly result: Promise<T>
}

type Send = ExecChannel['send']

/** One command. An abort rejects at once and has the command killed; the channel lives on until the server says so. */
export function openCommandChannel(send: Send, command: string, options: CommandOptions): Opened<CommandResult> {
  const { stdin, timeoutMs, signal, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options
  const stdout = makeBoundedOutput(maxOutputBytes)
  const stderr = makeBoundedOutput(maxOutputBytes)
  const input = makeInput(send, Buffer.from(stdin ?? ''))
  const { promise, resolve, reject } = deferred<CommandResult>()
  const abort = () => {
    send(FrameType.kill)
    input.stop()
    reject(signal?.reason)
  }
  const settle = () => {
    input.stop()
    signal?.removeEventListener('abort', abort)
    return 'ended' as const
  }
  const channel: ExecChannel = {
    send,
    begin() {
      signal?.addEventListener('abort', abort, { once: true })
      const message: StartMessage = { command, maxOutputBytes, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
      send(FrameType.start, json(message))
      input.pump()
    },
    receive(type, payload) {
      if (type === FrameType.stdout) stdout.push(payload)
      else if (type === FrameType.stderr) stderr.push(payload)
      else if (type === FrameType.credit) input.grant(parseCredit(payload))
      else if (type === FrameType.failure) {
        reject(new TroupeError(parseFailure(payload)))
        return settle()
      } else if (type === FrameType.exit) {
        const exit = parseExit(payload)
        stdout.addDropped(exit.droppedStdout)
        stderr.addDropped(exit.droppedStderr)
        resolve({ exitCode: exit.exitCode, stdout: stdout.text(), stderr: stderr.text() })
        return settle()
      }
      return 'open'
    },
    fail(reason) {
      settle()
      reject(reason)
    },
  }
  return { channel, result: promise }
}

/** Reads a file, or writes it when there is `content`. Rejects with `file-not-read` or `file-not-written`. */
export function openFileChannel(send: Send, file: { path: string; content?: Buffer }): Opened<Buffer> {
  const { path, content } = file
  const chunks: Buffer[] = []
  const input = makeInput(send, content ?? Buffer.alloc(0))
  const { promise, resolve, reject } = deferred<Buffer>()
  const channel: ExecChannel = {
    send,
    begin() {
      send(content === undefined ? FrameType.read : FrameType.write, json({ path }))
      if (content !== undefined) input.pump()
    },
    receive(type, payload) {
      if (type === FrameType.stdout) chunks.push(payload)
      else if (type === FrameType.credit) input.grant(parseCredit(payload))
      else if (type === FrameType.failure) reject(toFileError(path, content === undefined, payload))
      else if (type === FrameType.done) resolve(Buffer.concat(chunks))
      if (type !== FrameType.failure && type !== FrameType.done) return 'open'
      input.stop()
      return 'ended'
    },
    fail(reason) {
      input.stop()
      reject(reason)
    },
  }
  return { channel, result: promise }
}

/** Whatever the server holds against the path, the caller asked for a file and is told about the file. */
function toFileError(path: string, reading: boolean, payload: Buffer): TroupeError {
  const error = new TroupeError(parseFailure(payload))
  if (error.tag === 'file-not-read' || error.tag === 'file-not-written') return error
  return reading ? fileNotReadOverWire(path, error.message) : fileNotWrittenOverWire(path, error.message)
}

/** Sends input as far as the credit goes. */
function makeInput(send: Send, content: Buffer): { pump(): void; grant(bytes: number): void; stop(): void } {
  let at = 0
  let credit = INPUT_WINDOW_BYTES
  let over = false
  function pump(): void {
    while (!over && at < content.length && credit > 0) {
      const chunk = content.subarray(at, at + Math.min(CHUNK_BYTES, credit))
      at += chunk.length
      credit -= chunk.length
      send(FrameType.input, chunk)
    }
    if (over || at < content.length) return
    over = true
    send(FrameType.inputEnd)
  }
  return {
    pump,
    grant(bytes) {
      credit += bytes
      pump()
    },
    stop() {
      over = true
    },
  }
}

const json = (message: unknown): Buffer => Buffer.from(JSON.stringify(message))

/** `Promise.withResolvers`, which Node 20 does not have. */
function deferred<T>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (reason: unknown) => void
} {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

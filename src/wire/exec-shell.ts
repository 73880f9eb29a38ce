import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import { TroupeError, toErrorData } from '../errors.ts'
import type { Binding } from './binding.ts'
import { type ExecChannel, openCommandChannel, openFileChannel } from './exec-channel.ts'
import { bindingNotUsable, shellClosed, shellLost } from './exec-errors.ts'
import { encodeFrame, encodeJsonFrame, FrameType, MAX_CHANNELS, makeFrameReader } from './exec-frames.ts'
import { parseFailure } from './exec-messages.ts'
import type { Shell } from './shell.ts'

const PROTOCOL = 'exec/1'
const CLOSE_MS = 2_000

/**
 * A shell over an `exec/1` stream. Sends the session's token and does not wait: a wrong one (`exec-token-refused`) shows with
 * the first command. The stream is the shell's from here on. Throws `binding-not-usable`.
 */
export async function openExecShell(
  stream: Duplex,
  binding: Binding,
  clock: Clock,
  traceparent?: string,
): Promise<Shell> {
  const { token, cwd } = binding.params
  if (typeof token !== 'string') {
    stream.destroy()
    throw bindingNotUsable(binding.name, PROTOCOL, 'its params hold no token')
  }
  const channels = new Map<number, ExecChannel>()
  const free = new Set<() => void>()
  const readFrames = makeFrameReader()
  let last = 0
  let over: TroupeError | undefined

  function lose(reason: TroupeError): void {
    if (over !== undefined) return
    over = reason
    for (const channel of channels.values()) channel.fail(reason)
    channels.clear()
    for (const wake of free) wake()
    stream.destroy()
  }

  /** Waits for a free channel; the server refuses more than it counts. */
  async function run<T>(
    open: (send: ExecChannel['send']) => { channel: ExecChannel; result: Promise<T> },
    signal?: AbortSignal,
  ): Promise<T> {
    while (over === undefined && channels.size >= MAX_CHANNELS) await untilFree(free)
    if (over !== undefined) throw over
    signal?.throwIfAborted()
    last += 1
    const id = last
    stream.cork()
    const { channel, result } = open((type, payload) => stream.write(encodeFrame(type, id, payload)))
    channels.set(id, channel)
    channel.begin()
    process.nextTick(() => stream.uncork())
    return result
  }

  function release(id: number): void {
    channels.delete(id)
    const [wake] = free
    wake?.()
  }

  stream.on('data', (chunk: Buffer) => {
    try {
      for (const { type, channel: id, payload } of readFrames(chunk)) {
        if (id === 0) lose(new TroupeError(parseFailure(payload)))
        else if (channels.get(id)?.receive(type, payload) === 'ended') release(id)
      }
    } catch (error) {
      lose(error instanceof TroupeError ? error : new TroupeError(toErrorData(error)))
    }
  })
  stream.on('error', error => lose(shellLost(PROTOCOL, error.message)))
  stream.once('end', () => lose(shellLost(PROTOCOL, 'the environment ended it')))
  stream.once('close', () => lose(shellLost(PROTOCOL, 'it was cut')))
  const hello = traceparent === undefined ? { token } : { token, traceparent }
  stream.write(encodeJsonFrame(FrameType.hello, 0, hello))

  return {
    protocol: PROTOCOL,
    cwd: typeof cwd === 'string' ? cwd : '/workspace',
    exec: (command, options = {}) => run(send => openCommandChannel(send, command, options), options.signal),
    readFile: async path => (await run(send => openFileChannel(send, { path }))).toString('utf8'),
    writeFile: async (path, content) => {
      await run(send => openFileChannel(send, { path, content: Buffer.from(content) }))
    },
    async close() {
      if (stream.closed) return
      const closed = new Promise<void>(resolve => stream.once('close', resolve))
      lose(shellClosed(PROTOCOL))
      let cancel = () => {}
      const late = new Promise<void>(resolve => {
        cancel = clock.after(CLOSE_MS, resolve)
      })
      await Promise.race([closed, late])
      cancel()
    },
  }
}

function untilFree(free: Set<() => void>): Promise<void> {
  return new Promise(resolve => {
    const wake = () => {
      free.delete(wake)
      resolve()
    }
    free.add(wake)
  })
}

import type { Writable } from 'node:stream'
import { frameNotRead } from '../../wire/exec-errors.ts'
import { INPUT_WINDOW_BYTES } from '../../wire/exec-frames.ts'
import { fileTooLarge } from './errors.ts'

/** The input of one channel: held until somebody wants it, and never more than the window. */
export interface ExecInput {
  /** Throws `exec-frame-not-read` when the peer sends more than it was granted. */
  push(bytes: Buffer): void
  end(): void
  /** Passes everything on to a process, granting credit as it takes it in. */
  feed(target: Writable): void
  /** Everything, as one piece. Rejects with `file-too-large`, or when `signal` aborts. */
  all(maxBytes: number, signal: AbortSignal): Promise<Buffer>
}

export function makeExecInput(grant: (bytes: number) => void): ExecInput {
  const waiting: Buffer[] = []
  let outstanding = 0
  let ended = false
  let take: ((bytes: Buffer) => void) | undefined
  let finish: (() => void) | undefined

  function consumed(bytes: number): void {
    outstanding -= bytes
    grant(bytes)
  }

  function connect(onBytes: (bytes: Buffer) => void, onEnd: () => void): void {
    take = onBytes
    finish = onEnd
    for (const bytes of waiting.splice(0)) onBytes(bytes)
    if (ended) onEnd()
  }

  return {
    push(bytes) {
      outstanding += bytes.length
      if (ended || outstanding > INPUT_WINDOW_BYTES) throw frameNotRead('input', 'more input than was granted')
      if (take === undefined) waiting.push(bytes)
      else take(bytes)
    },
    end() {
      if (ended) return
      ended = true
      finish?.()
    },
    feed(target) {
      connect(
        // Also called with an error when the process is gone: the rest of its input is then taken and dropped.
        bytes => target.write(bytes, () => consumed(bytes.length)),
        () => target.end(),
      )
    },
    all: (maxBytes, signal) =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = []
        let total = 0
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        connect(
          bytes => {
            total += bytes.length
            if (total > maxBytes) reject(fileTooLarge('the file', total, maxBytes))
            else chunks.push(bytes)
            consumed(bytes.length)
          },
          () => resolve(Buffer.concat(chunks)),
        )
      }),
  }
}

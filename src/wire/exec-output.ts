import type { Readable } from 'node:stream'

/** Bytes of each of stdout and stderr that are kept when nobody says otherwise. */
export const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024

/** Collects output up to a size; what comes after is counted and dropped. */
export interface BoundedOutput {
  push(chunk: Uint8Array): void
  /** Bytes that somebody dropped already on the way here. */
  addDropped(bytes: number): void
  /** The text kept, with a last line that says how much is missing. */
  text(): string
}

export function makeBoundedOutput(maxBytes: number): BoundedOutput {
  const chunks: Uint8Array[] = []
  let kept = 0
  let dropped = 0
  return {
    push(chunk) {
      const part = chunk.subarray(0, maxBytes - kept)
      if (part.length > 0) chunks.push(part)
      kept += part.length
      dropped += chunk.length - part.length
    },
    addDropped(bytes) {
      dropped += bytes
    },
    text() {
      const text = Buffer.concat(chunks).toString('utf8')
      return dropped === 0 ? text : `${text}\n[${dropped} more bytes were dropped]\n`
    },
  }
}

/** Reads a stream to its end, keeping `maxBytes`. A stream that is cut short gives what came before. */
export function readBounded(stream: Readable, maxBytes: number): Promise<string> {
  const output = makeBoundedOutput(maxBytes)
  stream.on('data', (chunk: Buffer) => output.push(chunk))
  return new Promise(resolve => stream.once('close', () => resolve(output.text())))
}

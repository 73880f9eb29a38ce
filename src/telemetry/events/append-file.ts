import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { eventsNotAFile, eventsNotWritable } from '../errors.ts'

/** A file that lines are appended to. */
export interface AppendFile {
  /** Writes all of them, each with its end of line. Says how many are whole in the file, and what went wrong with the rest. Never rejects. */
  append(lines: readonly string[]): Promise<{ readonly written: number; readonly error?: unknown }>
  close(): Promise<void>
}

const NEW_LINE = 10

/**
 * What is in the file stays. A line that somebody who was killed left half is ended, so that each line is still an object or that one torn text. Rejects with
 * `events-not-writable` or `events-not-a-file`.
 */
export async function openAppendFile(path: string): Promise<AppendFile> {
  const known = await stat(path).catch(() => undefined) // What is not there is made; what cannot be seen is told by `open`.
  // To open a pipe would wait for its reader.
  if (known !== undefined && !known.isFile()) throw eventsNotAFile(path)
  const { O_APPEND, O_CREAT, O_RDWR } = constants
  const file = await open(path, O_APPEND | O_CREAT | O_RDWR, 0o600).catch(error => {
    throw eventsNotWritable(path, error)
  })
  /** The last byte in the file ends no line. */
  let torn: boolean
  try {
    const { size } = await file.stat()
    const last = Buffer.alloc(1)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    torn = size > 0 && last[0] !== NEW_LINE
  } catch (error) {
    await file.close()
    throw eventsNotWritable(path, error)
  }

  return {
    async append(lines) {
      const head = torn ? '\n' : ''
      const bytes = Buffer.from(`${head}${lines.map(line => `${line}\n`).join('')}`)
      let at = 0
      try {
        while (at < bytes.length) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten
        torn = false
        return { written: lines.length }
      } catch (error) {
        if (at > 0) torn = bytes[at - 1] !== NEW_LINE
        const ends = bytes.subarray(0, at).filter(byte => byte === NEW_LINE).length
        return { written: Math.max(0, ends - head.length), error }
      }
    },
    close: () => file.close(),
  }
}

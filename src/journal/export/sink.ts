import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { exportFailed } from '../errors.ts'

/** Where an export goes, with one write at a time in flight: memory stays bounded whatever is slow. */
export interface ExportSink {
  /** Resolves when the target has taken the bytes, which may then be used again. */
  write(bytes: Uint8Array | string): Promise<void>
}

/**
 * Calls `produce` with a sink for `to`. A path gets its file only when everything is written, so nobody takes half an export for a
 * whole one; a stream that was handed in stays open for its owner. Rejects with `export-failed` when the target fails.
 */
export async function withExportSink<Result>(
  to: Writable | string,
  produce: (sink: ExportSink) => Promise<Result>,
): Promise<Result> {
  if (typeof to !== 'string') return produce(toSink(to, 'the given stream'))
  const partial = `${to}.part`
  const file = createWriteStream(partial)
  try {
    const result = await produce(toSink(file, to))
    await finish(file, to)
    await rename(partial, to)
    return result
  } catch (error) {
    file.destroy()
    await rm(partial, { force: true })
    throw error
  }
}

function toSink(stream: Writable, name: string): ExportSink {
  let failure: unknown
  // Write callbacks carry the failure; without a listener the event would take the process down.
  stream.on('error', error => {
    failure ??= error
  })
  return {
    write: bytes =>
      new Promise((resolve, reject) => {
        if (failure !== undefined || stream.destroyed)
          return reject(exportFailed(name, failure ?? new Error('it is closed')))
        stream.write(bytes, error => (error ? reject(exportFailed(name, error)) : resolve()))
      }),
  }
}

function finish(file: Writable, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    file.once('error', error => reject(exportFailed(name, error)))
    file.end(() => resolve())
  })
}

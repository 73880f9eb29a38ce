import type { OperatorFunction } from 'rxjs'
import type { Chunk } from './chunk.ts'
import { holdCredits } from './credits.ts'
import { rxjs } from './rxjs.ts'

/**
 * Calls `handler` with one chunk after the other (or `concurrency` at a time) and emits what it resolves with. Unlike
 * `concatMap`, whose buffer nobody sees, chunks that wait here and those in the handler's hands count as not yet taken: when
 * training is slower than the rollouts, no new groups are started.
 */
export function processChunks<Result>(
  handler: (chunk: Chunk) => Result | Promise<Result>,
  options: { readonly concurrency?: number } = {},
): OperatorFunction<Chunk, Result> {
  const { defer, finalize, map, mergeMap } = rxjs()
  return chunks =>
    defer(() => {
      const held = new Set<() => void>()
      return chunks.pipe(
        map(chunk => {
          const release = holdCredits(chunk.groups)
          held.add(release)
          return { chunk, release }
        }),
        mergeMap(
          ({ chunk, release }) =>
            defer(async () => handler(chunk)).pipe(
              finalize(() => {
                held.delete(release)
                release()
              }),
            ),
          options.concurrency ?? 1,
        ),
        // Chunks that still wait when the stream is given up or fails.
        finalize(() => {
          for (const release of held) release()
        }),
      )
    })
}

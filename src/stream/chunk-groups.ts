import type { OperatorFunction } from 'rxjs'
import type { Group } from '../rollout/group.ts'
import type { Chunk } from './chunk.ts'
import { type ChunkOptions, checkChunkLimits } from './chunk-options.ts'
import { makeChunker } from './chunker.ts'
import { rxjs } from './rxjs.ts'

/**
 * Packs whole groups into chunks for training, while other groups still run. A chunk is emitted as soon as it is full, or when
 * the next group does not fit; the remainder on completion. Nothing but the open chunk is kept (and, in planned order, the
 * groups that wait for an earlier one). Throws `bad-chunk-limit` at once; the stream fails with `group-exceeds-chunk` when a
 * group alone is over a limit and with `duplicate-group` when one comes twice.
 */
export function chunkGroups(options: ChunkOptions): OperatorFunction<Group, Chunk> {
  checkChunkLimits(options)
  const { concat, concatMap, defer } = rxjs()
  return groups =>
    defer(() => {
      const chunker = makeChunker(options)
      return concat(
        groups.pipe(concatMap(group => chunker.push(group))),
        defer(() => chunker.finish()),
      )
    })
}

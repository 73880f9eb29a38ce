import { concat, concatMap, defer, type OperatorFunction } from 'rxjs'
import type { GroupId } from '../../ids.ts'
import type { Group } from '../../rollout/group.ts'
import { type Chunk, toChunk } from '../../stream/chunk.ts'
import { makeChunker } from '../../stream/chunker.ts'
import { groupExceedsChunk } from '../../stream/errors.ts'
import { makePlannedOrder } from '../../stream/planned-order.ts'
import type { InspectedGroup } from './inspect-group.ts'

export interface PackOptions {
  readonly maxTrajectories: number
  readonly maxBytes: number
  readonly maxHeldBytes: number
  /** The order in which groups are packed; absent, as they end. Ids that never come hold nothing up that stands before them. */
  readonly planned: readonly GroupId[] | undefined
}

/**
 * As `chunkGroups`, but a group that lacks members gets a chunk of its own, because a call's groups must all have one size. The
 * stream fails with `group-exceeds-chunk` when a group alone is over a limit.
 */
export function packStep({ planned, ...options }: PackOptions): OperatorFunction<InspectedGroup, Chunk> {
  const { maxBytes, maxHeldBytes, maxTrajectories } = options
  return groups =>
    defer(() => {
      const order =
        planned === undefined
          ? { push: (group: Group) => [group], finish: (): Group[] => [] }
          : makePlannedOrder(maxHeldBytes, planned)
      const chunker = makeChunker({ maxTrajectories, maxBytes })
      const waiting = new Map<GroupId, InspectedGroup>()

      function place(group: Group): readonly Chunk[] {
        const inspected = waiting.get(group.groupId)
        waiting.delete(group.groupId)
        if (inspected === undefined || inspected.verdict.type === 'drop') return []
        if (inspected.verdict.type === 'train') return chunker.push(group)
        if (group.bytes > maxBytes) throw groupExceedsChunk(group, { name: 'maxBytes', value: maxBytes })
        return [toChunk(0, [group])]
      }

      return concat(
        groups.pipe(
          concatMap(inspected => {
            waiting.set(inspected.groupId, inspected)
            return order.push(inspected.group).flatMap(place)
          }),
        ),
        defer(() => [...order.finish().flatMap(place), ...chunker.finish()]),
      )
    })
}

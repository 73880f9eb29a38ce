import type { GroupId } from '../ids.ts'
import type { Group } from '../rollout/group.ts'
import { type Chunk, toChunk } from './chunk.ts'
import { type ChunkOptions, DEFAULT_HELD_BYTES, type DropReason } from './chunk-options.ts'
import { duplicateGroup, groupExceedsChunk } from './errors.ts'
import { makePlannedOrder } from './planned-order.ts'

/** Packs groups into chunks. Knows groups by their id and their end, never by where they stand among others. */
export interface Chunker {
  /** The chunks that are full now. Throws `group-exceeds-chunk` or `duplicate-group`, and what the planned order throws. */
  push(group: Group): Chunk[]
  /** What is left. */
  finish(): Chunk[]
}

export function makeChunker(options: ChunkOptions): Chunker {
  const { maxTrajectories, maxBytes = Number.POSITIVE_INFINITY, staleness } = options
  const inOrder =
    options.order === 'planned'
      ? makePlannedOrder(options.maxHeldBytes ?? DEFAULT_HELD_BYTES, options.planned)
      : { push: (group: Group) => [group], finish: () => [] }
  const seen = new Set<GroupId>()
  let open: Group[] = []
  let openRuns = 0
  let openBytes = 0
  let index = 0

  function isKept(group: Group, reason: DropReason | undefined): boolean {
    if (reason !== undefined) options.onDropped?.(group, reason)
    return reason === undefined
  }

  function isStale(group: Group): boolean {
    return staleness !== undefined && staleness.currentStep() - group.step > staleness.maxSteps
  }

  function findDropReason(group: Group): DropReason | undefined {
    if (group.end.type === 'dropped') return group.end.reason
    if (group.runs.length === 0) return 'no-runs'
    if (options.dropWithoutSpread === true && !hasRewardSpread(group)) return 'no-reward-spread'
    return isStale(group) ? 'stale' : undefined
  }

  function place(group: Group): Chunk[] {
    if (!isKept(group, findDropReason(group))) return []
    const size = group.runs.length
    if (size > maxTrajectories) throw groupExceedsChunk(group, { name: 'maxTrajectories', value: maxTrajectories })
    if (group.bytes > maxBytes) throw groupExceedsChunk(group, { name: 'maxBytes', value: maxBytes })
    const fits = openRuns + size <= maxTrajectories && openBytes + group.bytes <= maxBytes
    const closed = fits ? [] : close()
    open.push(group)
    openRuns += size
    openBytes += group.bytes
    return openRuns === maxTrajectories ? [...closed, ...close()] : closed
  }

  function close(): Chunk[] {
    const groups = open.filter(group => isKept(group, isStale(group) ? 'stale' : undefined))
    open = []
    openRuns = 0
    openBytes = 0
    return groups.length === 0 ? [] : [toChunk(index++, groups)]
  }

  return {
    push(group) {
      if (seen.has(group.groupId)) throw duplicateGroup(group)
      seen.add(group.groupId)
      return inOrder.push(group).flatMap(place)
    },
    finish() {
      const rest = inOrder.finish().flatMap(place)
      return [...rest, ...close()]
    },
  }
}

/** Compares rewards themselves: a deviation computed in floats is rarely exactly 0. */
export function hasRewardSpread(group: Group): boolean {
  let first: number | null = null
  for (const { reward } of group.runs) {
    if (reward === null) continue
    first ??= reward
    if (reward !== first) return true
  }
  return false
}

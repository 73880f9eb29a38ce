import type { Group } from '../rollout/group.ts'
import type { Run } from '../rollout/run.ts'

/**
 * Whole groups that are trained on in one call. A chunk is itself the array of its runs: members side by side, group after group.
 */
export interface Chunk extends ReadonlyArray<Run> {
  /** Place in the stream of chunks, from 0. */
  readonly index: number
  readonly groups: readonly Group[]
  readonly runs: readonly Run[]
  /** Packed size of all trajectories. */
  readonly bytes: number
  /** Runs in each group, in the order of `groups`. */
  readonly groupSizes: readonly number[]
}

export function toChunk(index: number, groups: readonly Group[]): Chunk {
  const runs = groups.flatMap(group => group.runs)
  return Object.assign([...runs], {
    index,
    groups,
    runs,
    bytes: groups.reduce((sum, group) => sum + group.bytes, 0),
    groupSizes: groups.map(group => group.runs.length),
  })
}

import type { GroupId } from '../ids.ts'
import type { Group, GroupEnd } from '../rollout/group.ts'
import { badChunkOptions } from './errors.ts'

/** Why a group is in no chunk: how it ended, or what the options say. */
export type DropReason =
  | Extract<GroupEnd, { readonly type: 'dropped' }>['reason']
  | 'no-runs'
  | 'no-reward-spread'
  | 'stale'

/** How large chunks are, and which groups are left out of them. */
export interface ChunkOptions {
  /** Runs in a chunk at most; at least one group must fit. */
  readonly maxTrajectories: number
  /** Packed bytes in a chunk at most. Default: no bound. A run of 75 KB packed is about 290 KB of JSON. */
  readonly maxBytes?: number
  /** Leaves out groups whose graded rewards are all equal: they give no gradient. Ungraded runs are no reward. Default false. */
  readonly dropWithoutSpread?: boolean
  /**
   * `completion` (default) takes groups as they end. `planned` takes them by step and index, so that equal runs give equal
   * chunks whatever was slow: indices are expected from 0 without a gap, in one step, unless `planned` names the groups.
   */
  readonly order?: 'completion' | 'planned'
  /** With `planned` order: the ids to come, in order. Needed where the stream has several steps, or lacks groups that are done. */
  readonly planned?: readonly GroupId[]
  /**
   * With `planned` order: packed bytes of groups that may wait for an earlier one. Past it the stream fails with
   * `planned-order-overflow`: going on without the missing group would silently give other chunks. Default 256 MiB.
   */
  readonly maxHeldBytes?: number
  /** Leaves out groups more than `maxSteps` behind `currentStep()`, looked at when they arrive and when their chunk closes. */
  readonly staleness?: { readonly maxSteps: number; readonly currentStep: () => number }
  /** Told of each group that is in no chunk. */
  readonly onDropped?: (group: Group, reason: DropReason) => void
}

export const DEFAULT_HELD_BYTES = 256 * 1024 * 1024

/** Throws `bad-chunk-limit` naming every limit that cannot work, before anything is started. */
export function checkChunkLimits(options: ChunkOptions, groupSize = 1): void {
  const { maxTrajectories, maxBytes, maxHeldBytes, staleness, planned, order } = options
  const problems = [
    ...atLeastOne('maxTrajectories', maxTrajectories),
    ...(maxBytes === undefined ? [] : atLeastOne('maxBytes', maxBytes)),
    ...(maxHeldBytes === undefined ? [] : atLeastOne('maxHeldBytes', maxHeldBytes)),
  ]
  if (problems.length === 0 && maxTrajectories < groupSize)
    problems.push(
      `a chunk of ${maxTrajectories} runs cannot hold one group of ${groupSize}; raise the chunk limit to ${groupSize} or more`,
    )
  if (staleness !== undefined && !(staleness.maxSteps >= 0))
    problems.push(`staleness.maxSteps is ${staleness.maxSteps}, not a number from 0 up`)
  if (planned !== undefined && order !== 'planned') problems.push(`planned ids are given, but order is not 'planned'`)
  if (planned !== undefined && new Set(planned).size < planned.length) problems.push('planned names a group twice')
  if (problems.length > 0) throw badChunkOptions(problems)
}

function atLeastOne(name: string, value: number): string[] {
  return Number.isInteger(value) && value >= 1 ? [] : [`${name} is ${value}, not a whole number from 1 up`]
}

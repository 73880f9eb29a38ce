import type { Run } from '../rollout/run.ts'
import { badGroupSize, groupNotTogether, groupSizeMismatch, noReward, noRuns } from './errors.ts'

/** A run with its tokens, or the id of a trace that the service has recorded itself. */
export type TrainingInput = Run | string

/** Members side by side: the least that a call may be cut into. */
export interface InputGroup {
  /** The runs' group; `inputs 8-15` where traces do not tell one. */
  readonly groupId: string
  readonly inputs: readonly TrainingInput[]
}

/**
 * The groups that a service will make of `inputs`, after the checks that need no tokens. Throws `no-runs`, `group-size-mismatch`
 * where the size does not divide, `group-not-together` where a slice is not exactly one group, and `no-reward`.
 */
export function checkGroups(inputs: readonly TrainingInput[], groupSize?: number): InputGroup[] {
  if (inputs.length === 0) throw noRuns()
  for (const input of inputs)
    if (typeof input !== 'string' && (input.reward === null || !Number.isFinite(input.reward)))
      throw noReward(input.runId)
  const size = groupSize ?? inputs.length
  if (!Number.isInteger(size) || size < 1) throw badGroupSize(size)
  if (inputs.length % size !== 0) throw groupSizeMismatch(inputs.length, size)
  if (groupSize !== undefined) checkTogether(inputs, size)
  return Array.from({ length: inputs.length / size }, (_, index) => {
    const first = index * size
    const members = inputs.slice(first, first + size)
    return { groupId: nameGroup(members, first), inputs: members }
  })
}

/** Whether any group's rewards differ. True as soon as one input is a trace, whose reward only the service knows. */
export function hasSpread(groups: readonly InputGroup[]): boolean {
  return groups.some(({ inputs }) => {
    const rewards = inputs.map(input => (typeof input === 'string' ? undefined : input.reward))
    return rewards.some(reward => reward === undefined || reward !== rewards[0])
  })
}

/** Knows groups by their id. A slice with traces in it cannot be checked. */
function checkTogether(inputs: readonly TrainingInput[], size: number): void {
  const closed = new Set<string>()
  for (let first = 0; first < inputs.length; first += size) {
    const members = inputs.slice(first, first + size)
    const ids = members.flatMap(input => (typeof input === 'string' ? [] : [input.groupId]))
    const [groupId] = ids
    if (groupId === undefined) continue
    for (const [offset, input] of members.entries()) {
      if (typeof input === 'string') continue
      if (input.groupId !== groupId || closed.has(input.groupId))
        throw groupNotTogether(input.groupId, first + offset, input.runId, size)
    }
    closed.add(groupId)
  }
}

function nameGroup(members: readonly TrainingInput[], first: number): string {
  const ids = new Set(members.map(input => (typeof input === 'string' ? undefined : input.groupId)))
  const [groupId] = ids
  return ids.size === 1 && groupId !== undefined ? groupId : `inputs ${first}-${first + members.length - 1}`
}

import { TroupeError } from '../errors.ts'
import type { Group } from '../rollout/group.ts'
import type { ConservationCounts } from './conservation.ts'

export function groupExceedsChunk(group: Group, limit: { readonly name: string; readonly value: number }): TroupeError {
  const size = limit.name === 'maxBytes' ? group.bytes : group.runs.length
  const unit = limit.name === 'maxBytes' ? 'bytes' : 'runs'
  return new TroupeError({
    tag: 'group-exceeds-chunk',
    message: `group ${group.groupId} (${group.task.slug}) has ${size} ${unit}, and a chunk holds ${limit.value} at most; groups are never split: raise ${limit.name}`,
    address: group.groupId,
    details: { groupId: group.groupId, size, limit: limit.value, limitName: limit.name },
  })
}

export function duplicateGroup(group: Group): TroupeError {
  return new TroupeError({
    tag: 'duplicate-group',
    message: `group ${group.groupId} (${group.task.slug}) came twice: a chunk would count it twice; look for a stream that was merged with itself`,
    address: group.groupId,
  })
}

export function badChunkOptions(problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'bad-chunk-limit',
    message: `cannot make chunks: ${problems.join('; ')}`,
    details: { problems },
  })
}

export function plannedOrderOverflow(
  missing: string,
  held: { readonly groups: number; readonly bytes: number },
  limit: number,
): TroupeError {
  return new TroupeError({
    tag: 'planned-order-overflow',
    message: `${held.groups} groups (${held.bytes} bytes) wait for ${missing}, and ${limit} bytes may wait; raise maxHeldBytes, or take order: 'completion'`,
    details: { missing, ...held, limit },
  })
}

export function unplannedGroup(group: Group): TroupeError {
  return new TroupeError({
    tag: 'unplanned-group',
    message: `group ${group.groupId} (${group.task.slug}) has no free place in the planned order: it is not among the planned ids, or another group has its step ${group.step} and index ${group.index}`,
    address: group.groupId,
  })
}

export function streamTaken(): TroupeError {
  return new TroupeError({
    tag: 'stream-taken',
    message:
      'this stream of groups already has its consumer, and a group is handed out once; subscribe before starting and fan out with share()',
  })
}

export function conservationBroken(counts: ConservationCounts, found: number | undefined): TroupeError {
  const dropped = Object.entries(counts.dropped).map(([reason, count]) => `${count} ${reason}`)
  return new TroupeError({
    tag: 'conservation-broken',
    message: `runs do not add up: ${counts.completed} completed, ${counts.shipped} shipped, dropped ${dropped.length === 0 ? '0' : dropped.join(', ')}, so ${counts.queued} should be queued${found === undefined ? '' : ` and ${found} are`}; this is a defect of the engine`,
    details: { ...counts, ...(found === undefined ? {} : { found }) },
  })
}

export function creditsBroken(taken: number, waiting: number): TroupeError {
  return new TroupeError({
    tag: 'credits-broken',
    message: `${taken} bytes were taken where only ${waiting} were waiting; this is a defect of the engine`,
    details: { taken, waiting },
  })
}

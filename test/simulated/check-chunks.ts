import type { GroupId } from '../../src/ids.ts'
import type { Group } from '../../src/rollout/group.ts'
import type { SimulatedConsumer } from './consumer.ts'
import type { Scenario } from './scenario.ts'

/** Throws unless chunks hold whole groups, each once, and, where the stream came to its end, all that were not left out for a reason. */
export function checkChunks(
  { chunks: { maxTrajectories } }: Scenario,
  consumer: SimulatedConsumer,
  delivered: readonly Group[],
): void {
  const seen = new Set<GroupId>()
  const note = (groupId: GroupId) => {
    if (seen.has(groupId)) throw new Error(`${groupId} is in two chunks, or in one and left out`)
    seen.add(groupId)
  }
  for (const chunk of consumer.chunks) {
    for (const { groupId } of chunk.groups) note(groupId)
    const groups = chunk.groups.flatMap(group => group.runs)
    if (chunk.length !== groups.length || groups.some((run, place) => chunk[place] !== run))
      throw new Error(`chunk ${chunk.index} is not its groups side by side`)
    if (chunk.length > maxTrajectories)
      throw new Error(`chunk ${chunk.index} holds ${chunk.length} runs, and ${maxTrajectories} may be`)
    for (const group of chunk.groups) {
      const whole = delivered.find(({ groupId }) => groupId === group.groupId)
      if (group.end.type === 'dropped') throw new Error(`${group.groupId} was dropped and is in a chunk`)
      if (whole?.runs.length !== group.runs.length) throw new Error(`${group.groupId} is in a chunk in part`)
    }
  }
  for (const { groupId } of consumer.dropped) note(groupId)
  if (consumer.end !== 'completed') return
  for (const { groupId } of delivered)
    if (!seen.has(groupId)) throw new Error(`${groupId} was delivered and is in no chunk`)
}

import type { GroupId } from '../ids.ts'
import type { Group } from '../rollout/group.ts'
import { plannedOrderOverflow, unplannedGroup } from './errors.ts'

/** Puts groups that end in any order back into the order they were planned in. */
export interface PlannedOrder {
  /** The groups whose turn has come. Throws when this one has no place, or when too many bytes wait for a missing one. */
  push(group: Group): Group[]
  /** Everything that still waits, in order: nothing missing will come any more. */
  finish(): Group[]
}

/** Places are the positions in `planned`; without it, a group's index in its step, of which there is then one. */
export function makePlannedOrder(maxHeldBytes: number, planned?: readonly GroupId[]): PlannedOrder {
  const places = planned && new Map(planned.map((groupId, place) => [groupId, place]))
  const held = new Map<number, Group>()
  /** Of another step than the first, without a list: nobody can tell when a step is over, so they wait for the end. */
  const later: Group[] = []
  let heldBytes = 0
  let next = 0
  let step: number | undefined

  function hold(group: Group): void {
    step ??= group.step
    heldBytes += group.bytes
    if (places === undefined && group.step !== step) {
      later.push(group)
      return
    }
    const place = places === undefined ? group.index : places.get(group.groupId)
    if (place === undefined || place < next || held.has(place)) throw unplannedGroup(group)
    held.set(place, group)
  }

  function release(): Group[] {
    const ready: Group[] = []
    for (let group = held.get(next); group !== undefined; group = held.get(next)) {
      held.delete(next)
      heldBytes -= group.bytes
      next += 1
      ready.push(group)
    }
    return ready
  }

  return {
    push(group) {
      hold(group)
      const ready = release()
      if (heldBytes > maxHeldBytes) {
        const missing = planned?.[next] ?? `index ${next} of step ${step}`
        throw plannedOrderOverflow(missing, { groups: held.size + later.length, bytes: heldBytes }, maxHeldBytes)
      }
      return ready
    },
    finish() {
      const rest = [...held].sort(([a], [b]) => a - b).map(([, group]) => group)
      return places === undefined ? [...rest, ...later].sort(byPlan) : rest
    },
  }
}

function byPlan(a: Group, b: Group): number {
  return a.step - b.step || a.index - b.index
}
